"""`fullband data` and the commands that need data, together: data_test.py PROGRAM

A suite whose file is missing says what to type; that, typed, fetches the file from a server on this machine to where
the suite finds it. tests/scripts/fetch_data_test.py has all that can go wrong on the way.
"""
import functools
import hashlib
import http.server
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import unittest

try:
    import tiny
except ImportError:
    print("NumPy is missing (run scripts/setup); skipped")
    sys.exit(77)

HOME = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ""
SOURCES = """[sums]
repository = "someone/sums"
commit = "0123456789ab"
licence = "MIT"
files = [{{file = "own.jsonl", bytes = {size}, sha256 = "{sha256}"}}]
"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class DataTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        home, served = self.folder / "home", self.folder / "served" / "someone" / "sums" / "0123456789ab"
        served.mkdir(parents=True)
        (served / "own.jsonl").write_bytes(tiny.GENERATE_ITEMS)
        (home / "tasks" / "data").mkdir(parents=True)
        (home / "scripts").symlink_to(HOME / "scripts")
        sha256 = hashlib.sha256(tiny.GENERATE_ITEMS).hexdigest()
        sources = SOURCES.format(size=len(tiny.GENERATE_ITEMS), sha256=sha256)
        (home / "tasks" / "data" / "sources.toml").write_text(sources)
        suite = tiny.replaced(tiny.GENERATE_TOML, '"own.jsonl"', f'"sums/own.jsonl"\nsha256 = "{sha256}"')
        (home / "tasks" / "own.toml").write_text(suite)
        handler = functools.partial(QuietHandler, directory=self.folder / "served")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.environment = {
            **os.environ, "FULLBAND_HOME": str(home), "FULLBAND_CACHE": str(self.folder / "cache"), "no_proxy": "*",
            "FULLBAND_PYTHON": sys.executable, "FULLBAND_DATA_URL": f"http://127.0.0.1:{self.server.server_port}"}
        self.environment.pop("FULLBAND_DATA", None)

    def run_program(self, *words, code=0, **environment):
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False, timeout=120,
                              env={**self.environment, **environment}, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def data_of(self, *words, **environment):
        """What `fullband suites` says of the suite's data."""
        return json.loads(self.run_program("suites", "own", "--json", *words, **environment).stdout)["data"]

    def fetch_as_told(self, *words, **environment):
        """Types the command in the message."""
        message = self.data_of(*words, **environment)
        command = re.search(r"\(fullband (data fetch .*) gets it", message)
        self.assertTrue(command, message)
        self.run_program(*shlex.split(command[1]), **environment)
        self.assertEqual(self.data_of(*words, **environment), "at hand")

    def test_into_the_cache(self):
        self.fetch_as_told()
        self.assertTrue((self.folder / "cache" / "data" / "sums" / "own.jsonl").exists())

    def test_into_the_folder_of_the_environment(self):
        self.fetch_as_told(FULLBAND_DATA=str(self.folder / "data"))
        self.assertTrue((self.folder / "data" / "sums" / "own.jsonl").exists())

    def test_into_a_folder_on_the_command_line(self):
        (self.folder / "here").mkdir()
        self.fetch_as_told("--data-dir", "here")
        self.assertTrue((self.folder / "here" / "sums" / "own.jsonl").exists())

    def test_a_suite(self):
        self.assertIn("sums/own.jsonl: fetched", self.run_program("data", "fetch", "--suite", "own").stdout)
        self.assertEqual(self.data_of(), "at hand")

    def test_a_wrong_file(self):
        self.fetch_as_told()
        file = self.folder / "cache" / "data" / "sums" / "own.jsonl"
        file.write_bytes(b"wrong")
        self.assertIn("own.jsonl", self.run_program("data", "verify", code=1).stderr)
        listed = json.loads(self.run_program("data", "list", "--json").stdout)
        self.assertEqual(listed["data_sets"][0]["state"], "wrong")
        message = self.data_of()
        self.assertIn("fullband data fetch sums gets it", message)
        self.run_program("data", "fetch", "sums")
        self.assertEqual(file.read_bytes(), tiny.GENERATE_ITEMS)

    def test_without_the_projects_python(self):
        self.assertIn("missing", self.run_program("data", "list", FULLBAND_PYTHON=str(self.folder / "none")).stdout)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
