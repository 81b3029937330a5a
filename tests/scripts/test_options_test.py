"""scripts/test with stand-ins for all that it calls: what its options set up, and which tests they choose."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "test")
CALLED = ("scripts/setup", "scripts/build", "scripts/fetch_smollm2", "scripts/record_peers", "tools/ctest", "tools/git")
LOGGER = """#!/bin/bash
echo "$(basename "$0") $*" >>"$LOG"
"""
LABELS = ({"fast"}, {"slow"}, {"fast", "python"}, {"slow", "python", "peers"}, {"python", "train"})


def chosen(call):
    """The sets of labels that a call of ctest runs, as its manual describes -L and -LE."""
    only = re.findall(r" -L (\S+)", call)
    never = re.findall(r" -LE (\S+)", call)

    def matches(patterns, labels):
        return all(any(re.search(pattern, label) for label in labels) for pattern in patterns)

    return [labels for labels in LABELS if matches(only, labels) and not (never and matches(never, labels))]


class Test(unittest.TestCase):
    def calls(self, *arguments):
        with tempfile.TemporaryDirectory() as home:
            for name in CALLED:
                path = os.path.join(home, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(LOGGER)
                os.chmod(path, 0o755)
            shutil.copy(SCRIPT, os.path.join(home, "scripts", "test"))
            log, path = os.path.join(home, "log"), f"{home}/tools:{os.environ['PATH']}"
            done = subprocess.run([os.path.join(home, "scripts", "test"), *arguments], capture_output=True, text=True,
                                  check=False, env={**os.environ, "PATH": path, "LOG": log})
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(log, encoding="utf-8") as file:
                return file.read().splitlines()

    def test_by_default_nothing_needs_pytorch(self):
        calls = self.calls()
        self.assertEqual(calls[0], "setup ")
        self.assertEqual(chosen(calls[-1]), [{"fast"}, {"slow"}, {"fast", "python"}])

    def test_train_runs_the_tests_of_training_alone(self):
        calls = self.calls("--train")
        self.assertEqual(calls[0], "setup --train")
        self.assertEqual(chosen(calls[-1]), [{"python", "train"}])

    def test_all_runs_the_tests_of_training_too(self):
        calls = self.calls("--all")
        self.assertEqual(calls[0], "setup --ci --train")
        self.assertEqual(chosen(calls[-1]), [labels for labels in LABELS if "peers" not in labels])
        self.assertEqual([call for call in calls if "build/asan" in call and "-L fast" in call], calls[-2:-1])

    def test_peers(self):
        calls = self.calls("--peers")
        self.assertEqual(calls[0], "setup --peers")
        self.assertIn("record_peers ", calls)
        self.assertEqual(chosen(calls[-1]), [labels for labels in LABELS if "train" not in labels])

    def test_other_arguments_go_to_ctest(self):
        self.assertTrue(self.calls("-R", "Name")[-1].endswith("-R Name -LE ^(peers|train)$"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
