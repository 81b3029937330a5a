"""scripts/setup against stand-ins for the system's package tools: what it would install, and what it says."""

import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

HOME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SETUP = os.path.join(HOME, "scripts", "setup")

# Everything asked about is installed, but for what $ABSENT names.
DPKG_QUERY = """#!/bin/bash
for package in "${@:4}"; do
  case " $ABSENT " in *" $package "*) ;; *) echo "$package installed" ;; esac
done
"""
APT_GET = """#!/bin/bash
echo "$*" >>"$LOG"
case $1 in
  update) exit "${UPDATE_STATUS:-0}" ;;
  install) exit "${INSTALL_STATUS:-0}" ;;
esac
"""
ID = """#!/bin/bash
echo "${USER_ID:-0}"
"""
SUDO = """#!/bin/bash
echo "sudo $*" >>"$LOG"
shift
exec "$@"
"""
# Makes virtual environments of itself, and installs nothing.
PYTHON = """#!/bin/bash
case "$1 $2" in
  "-m venv") [[ ! -L $4 ]] && mkdir -p "$4/bin" && cp "${BASH_SOURCE[0]}" "$4/bin/python3" ;;
  "-m pip") echo "pip $*" >>"$LOG"; exit "${PIP_STATUS:-0}" ;;
esac
"""


def versions(lock):
    """The versions of each package in a lock file, by its name."""
    found = {}
    with open(os.path.join(HOME, lock), encoding="utf-8") as file:
        for name, version in re.findall(r"^(\S+?)==(\S+)", file.read(), re.M):
            found.setdefault(name, set()).add(version)
    return found


class SetupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tools = folder.name
        self.log = os.path.join(folder.name, "log")
        for name, text in {"dpkg-query": DPKG_QUERY, "apt-get": APT_GET, "id": ID, "sudo": SUDO}.items():
            self.stand_in(name, text)

    def stand_in(self, name, text):
        path = os.path.join(self.tools, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def setup(self, *arguments, script=SETUP, **environment):
        done = subprocess.run(
            [script, *arguments], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}", "LOG": self.log, **environment},
        )
        calls = []
        if os.path.exists(self.log):
            with open(self.log, encoding="utf-8") as file:
                calls = file.read().splitlines()
        return done, calls

    def test_is_quick_where_nothing_is_missing(self):
        start = time.monotonic()
        done, calls = self.setup()
        self.assertEqual((done.returncode, done.stderr, calls), (0, "", []))
        self.assertLess(time.monotonic() - start, 10)

    def test_installs_what_is_missing_and_only_that(self):
        done, calls = self.setup(ABSENT="cmake libhwy-dev")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(calls[0].split()[0], "update")
        self.assertEqual(calls[1].split()[0], "install")
        self.assertEqual([w for w in calls[1].split() if w in ("cmake", "libhwy-dev", "g++", "git")],
                         ["cmake", "libhwy-dev"])

    def test_goes_on_with_old_lists_where_they_cannot_be_renewed(self):
        done, calls = self.setup(ABSENT="cmake", UPDATE_STATUS="100")
        self.assertEqual((done.returncode, len(calls)), (0, 2), done.stderr)

    def test_names_what_could_not_be_installed(self):
        done, _ = self.setup(ABSENT="cmake", INSTALL_STATUS="100")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines()[-1], "setup: apt-get could not install: cmake")

    def test_uses_sudo_where_it_is_not_root(self):
        done, calls = self.setup(ABSENT="cmake", USER_ID="1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(any(call.startswith("sudo ") and call.endswith("cmake") for call in calls), calls)

    def test_formatting_tools_only_for_ci(self):
        done, calls = self.setup(ABSENT="clang-format")
        self.assertEqual((done.returncode, calls), (0, []))
        done, calls = self.setup("--ci", ABSENT="clang-format")
        self.assertTrue(calls[-1].endswith(" clang-format"), calls)

    def test_unknown_option(self):
        done, calls = self.setup("--everything")
        self.assertEqual((done.returncode, calls), (2, []))
        self.assertIn("--everything: unknown option", done.stderr)

    def copy(self):
        """scripts/setup in a folder of its own, where nothing is installed and Python is a stand-in."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.mkdir(os.path.join(folder.name, "scripts"))
        for name in ("scripts/setup", "requirements.lock", "requirements-train.lock", "requirements-peers.lock"):
            shutil.copy(os.path.join(HOME, name), os.path.join(folder.name, name))
        self.stand_in("python3", PYTHON)
        return os.path.join(folder.name, "scripts", "setup")

    def locks(self, calls):
        return [re.search(r"-r (\S+)", call)[1] for call in calls if call.startswith("pip ")]

    def test_pytorch_only_where_it_is_asked_for(self):
        script = self.copy()
        done, calls = self.setup(script=script)
        self.assertEqual((done.returncode, self.locks(calls)), (0, ["requirements.lock"]), done.stderr)
        done, calls = self.setup("--train", script=script)
        self.assertEqual((done.returncode, self.locks(calls)), (0, ["requirements.lock", "requirements-train.lock"]))
        for option in ("--no-deps", "--require-hashes", "--only-binary :all:"):
            self.assertIn(option, calls[-1])
        again, after = self.setup("--train", script=script)
        self.assertEqual((again.returncode, again.stderr, after), (0, "", calls))

    def test_an_interrupted_installation_is_done_again(self):
        script = self.copy()
        self.setup(script=script)
        done, calls = self.setup("--train", script=script, PIP_STATUS="1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("pip could not install requirements-train.lock", done.stderr)
        done, after = self.setup("--train", script=script)
        self.assertEqual((done.returncode, self.locks(after[len(calls):])), (0, ["requirements-train.lock"]))

    def test_a_folder_behind_a_link_is_filled_where_it_is(self):
        script = self.copy()
        home = os.path.dirname(os.path.dirname(script))
        os.mkdir(os.path.join(home, "elsewhere"))
        os.symlink("elsewhere", os.path.join(home, ".venv"))
        done, calls = self.setup(script=script)
        self.assertEqual((done.returncode, self.locks(calls)), (0, ["requirements.lock"]), done.stderr)
        self.assertTrue(os.path.exists(os.path.join(home, "elsewhere", ".installed")))

    def test_training_has_the_versions_that_results_are_compared_with(self):
        train, peers = versions("requirements-train.lock"), versions("requirements-peers.lock")
        self.assertLessEqual({"torch", "transformers", "tokenizers", "safetensors", "numpy"}, set(train))
        self.assertEqual(train, {name: peers.get(name) for name in train})


if __name__ == "__main__":
    unittest.main(verbosity=1)
