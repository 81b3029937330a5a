"""`fullband bench` as a whole: its JSON, its tables, what it refuses, and that it stops cleanly.

Run: python3 bench_test.py PROGRAM
"""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

try:
    import numpy  # noqa: F401
except ImportError:
    print("NumPy is missing (run scripts/setup); skipped")
    sys.exit(77)

import tiny

FULLBAND = os.path.abspath(sys.argv.pop(1))
# Two threads on a busy machine wait for each other; what is tested here is no speed.
SMALL = ["--threads", "1", "--prompt-lengths", "8", "--chunks", "4", "--batches", "1,2", "--contexts", "8", "--repeats", "2"]


def bench(*arguments: object) -> subprocess.CompletedProcess:
    command = [FULLBAND, "bench", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


class BenchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        shape = tiny.checkpoints.Shape("plain", fusion=None, width=16, inner=24, layers=1, heads=2, groups=1, vocab=3100)
        cls.model = tiny.model(cls.folder / "model", shape, "qwen_kind")
        cls.latent = tiny.model(cls.folder / "latent")
        cls.suite = tiny.suite(cls.folder / "suite")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.temporary.cleanup()

    def refusal(self, *arguments: object) -> str:
        """The one line of an error in the command line (exit status 2)."""
        done = bench(*arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_json(self) -> None:
        done = bench("--model", self.model, "--random-feedback", 3, "--suite", self.suite, "--limit", "1,2", *SMALL, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["model"]["random_feedback_seed"], 3)
        self.assertEqual(report["options"]["settings"], ["standard", "latent", "latent@2"])
        self.assertEqual(len(report["prefill"]), 3)
        self.assertEqual([(f["setting"], f["batch"]) for f in report["decode"][:3]],
                         [("standard", 1), ("latent", 1), ("latent@2", 1)])
        self.assertEqual(len(report["decode_overhead"]), 2)
        self.assertEqual(len(report["decode_overhead"][0]["ratios"]), 16)
        self.assertEqual(report["prefill_overhead"][0]["passes"], 2)
        self.assertEqual([(f["setting"], f["items"]) for f in report["suites"]],
                         [(s, n) for n in (1, 2) for s in ("standard", "latent", "latent@2")])
        for figure in report["prefill"] + report["decode"]:
            self.assertEqual(len(figure["seconds"]), 2)
            self.assertGreater(figure["tokens_per_second"]["median"], 0)
            self.assertGreater(figure["roofline_share"], 0)
        self.assertEqual(len(report["loading"]["seconds"]), 2)
        self.assertGreater(min(report["loading"]["seconds"]), 0)
        self.assertGreater(report["machine"]["probes"]["read_gbyte_per_second"], 0)
        self.assertGreater(report["memory"]["peak_bytes"], report["memory"]["weights_bytes"])
        self.assertEqual(report["profiles"], [])
        self.assertIn("fullband: decode: batch 2, context 8", done.stderr)

    def test_text_of_a_random_model(self) -> None:
        done = bench("--random-model", "width=64,layers=1,vocabulary=100,context=64", *SMALL, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertNotIn("loading", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^decode +context +batch +tokens/s")
        self.assertRegex(done.stdout, r"(?m)^standard +8 +2 +\d")
        self.assertNotIn("RANDOM", done.stdout)

    def test_profile(self) -> None:
        done = bench("--model", self.latent, "--setting", "latent", "--profile", *SMALL, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        profiles = json.loads(done.stdout)["profiles"]
        self.assertEqual([p["what"] for p in profiles], [
            "prefill, 8 tokens, chunk 128", "decode, batch 1, context 8", "decode, batch 2, context 8"])
        self.assertEqual([p["steps"] for p in profiles], [2, 8, 8])
        for profile in profiles:
            self.assertAlmostEqual(sum(p["share"] for p in profile["parts"]), 1, 9)
            names = {p["part"] for p in profile["parts"]}
            self.assertLessEqual({"attention", "query/key/value", "gate/up", "down", "head", "answer", "final norm"}, names)

    def test_only_suites(self) -> None:
        done = bench("--model", self.model, "--suite", self.suite, "--no-steps", "--threads", 1, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["prefill"], [])
        self.assertIsNone(report["loading"])
        self.assertEqual(report["suites"][0]["items"], 2)

    def test_refusals(self) -> None:
        model = ["--model", self.model]
        self.assertIn("needs one model", self.refusal())
        self.assertIn("needs one model", self.refusal(*model, "--random-model", "width=64"))
        self.assertIn("beyond the model's context", self.refusal(*model, "--contexts", 1000000))
        self.assertIn("--batches", self.refusal(*model, "--batches", "1,0"))
        self.assertIn("--repeats", self.refusal(*model, "--repeats", 0))
        self.assertIn("latent_feedback", self.refusal(*model, "--setting", "latent"))
        self.assertIn("is for scoring only", self.refusal(*model, "--setting", "parallel@2", "--random-feedback", 1))
        self.assertIn("no tokenizer", self.refusal("--random-model", "width=64", "--suite", self.suite))
        self.assertIn("leaves nothing to measure", self.refusal(*model, "--no-steps"))
        self.assertIn("--random-model depth=3", self.refusal("--random-model", "width=64,depth=3"))
        self.assertIn("AVX9", self.refusal(*model, "--target", "AVX9"))
        self.assertIn("feedback of its own", self.refusal("--model", self.latent, "--random-feedback", 1))

    def test_stops_cleanly(self) -> None:
        command = [FULLBAND, "bench", "--random-model", "width=64,layers=1,vocabulary=100", *SMALL[:-2],
                   "--json", "--repeats", "1000000"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while "prefill" not in (line := process.stderr.readline()):
            self.assertNotEqual(line, "", "it ended before it measured anything")
        time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIs(json.loads(out)["stopped"], True)
        self.assertIn("stopped: what was measured until then is above", err)


if __name__ == "__main__":
    unittest.main()
