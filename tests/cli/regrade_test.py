"""`fullband regrade` and what `fullband report` says of several samples, on a store of a tiny model.

Run: python3 regrade_test.py PROGRAM
"""
from __future__ import annotations

import os
import shutil
import signal
import sqlite3
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
ITEMS = 30
SAMPLES = 4


def wait_for_handler(process: subprocess.Popen) -> None:
    """Until the process handles SIGINT itself; a minute at most."""
    for _ in range(6000):
        status = Path(f"/proc/{process.pid}/status").read_text()
        caught = int(next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")), 16)
        if caught >> (signal.SIGINT - 1) & 1:
            return
        time.sleep(0.01)
    raise AssertionError("it never handled SIGINT")


class RegradeTest(unittest.TestCase):
    """Each test has a copy of one store: ITEMS items of mini_gsm8k, SAMPLES samples of each."""

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.TemporaryDirectory()
        root = Path(cls.root.name)
        shape = tiny.checkpoints.Shape("tiny", width=16, inner=24, layers=1, heads=2, groups=1, vocab=3100)
        model = tiny.model(root / "model", shape, "qwen_kind")
        cls.made = root / "made.db"
        subprocess.run([FULLBAND, "run", "--quiet", "--model", str(model), "--suite", "mini_gsm8k", "--setting", "standard",
                        "--limit", str(ITEMS), "--shots", "0", "--max-new", "8", "--samples", str(SAMPLES), "--temperature",
                        "1", "--threads", "1", "--store", str(cls.made)], check=True, timeout=600, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.root.cleanup()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = Path(self.folder.name) / "a.db"
        shutil.copy(self.made, self.store)

    def tearDown(self):
        self.folder.cleanup()

    def command(self, *words):
        return [FULLBAND, "regrade", "--store", str(self.store), "--suite", "mini_gsm8k", *words]

    def regrade(self, *words):
        done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout, done.stderr

    def query(self, statement):
        """Rows of a query or, for a change, none."""
        database = sqlite3.connect(self.store)
        try:
            rows = database.execute(statement).fetchall()
            database.commit()
            return rows
        finally:
            database.close()

    def grades(self):
        return self.query("SELECT * FROM grades ORDER BY 1, 2, 3")

    def test_the_same_version_says_the_same(self):
        before = self.grades()
        code, out, err = self.regrade("--quiet")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(self.grades(), before)
        row = [line for line in out.splitlines() if " number " in line][0].split()
        self.assertEqual(row[5:7], ["0", str(ITEMS * SAMPLES)], out)  # none graded, all the same

    def test_another_grader_is_added(self):
        before = self.grades()
        code, _, err = self.regrade("--quiet", "--grader", "math,exact")
        self.assertEqual(code, 0, err)
        self.assertTrue(set(before) <= set(self.grades()))
        counts = dict(self.query("SELECT grader, COUNT(*) FROM grades GROUP BY grader"))
        self.assertEqual((counts["math"], counts["exact"]), (ITEMS * SAMPLES,) * 2)

    def test_a_verdict_that_differs_is_told(self):
        sample, version = self.query("SELECT sample_id, grader_version FROM grades WHERE grader = 'number' LIMIT 1")[0]
        self.query("UPDATE grades SET outcome = 'correct', extracted = '5', detail = '' "
                   f"WHERE sample_id = {sample} AND grader = 'number'")
        before = self.grades()
        code, out, err = self.regrade("--quiet")
        self.assertEqual(code, 3)
        self.assertIn(f"number version {version} had said correct (5)", err)
        self.assertIn("not what the same version had given", err)
        self.assertEqual(self.grades(), before)
        self.assertEqual(self.regrade("--quiet", "--force")[0], 3)
        self.assertNotEqual(self.grades(), before)
        self.assertEqual(self.regrade("--quiet")[0], 0)

    def test_killed_and_started_again(self):
        expected = self.grades()
        self.query("DELETE FROM grades")
        for milliseconds in (5, 20, 40, 60):
            process = subprocess.Popen(self.command("--quiet"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(milliseconds / 1000)
            process.kill()
            process.wait()
            self.assertEqual(self.query("PRAGMA integrity_check"), [("ok",)])
            self.assertTrue(set(self.grades()) <= set(expected))
        self.assertEqual(self.regrade("--quiet")[0], 0)
        self.assertEqual(self.grades(), expected)

    def test_a_signal_ends_it_cleanly(self):
        """With the store's lock held by another, it is sure to be at work."""
        self.query("DELETE FROM grades")
        holder = sqlite3.connect(self.store, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        process = subprocess.Popen(self.command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_handler(process)
        process.send_signal(signal.SIGINT)
        holder.execute("ROLLBACK")
        holder.close()
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, -signal.SIGINT, err)
        self.assertIn("the same command again goes on from there", err)
        self.assertLess(len(self.grades()), 3 * ITEMS * SAMPLES)
        self.assertEqual(self.regrade("--quiet")[0], 0)

    def test_the_report_has_the_samples(self):
        report = subprocess.run([FULLBAND, "report", "--store", str(self.store)], capture_output=True, text=True, check=True)
        for words in ("### Several samples of an item", "pass@1 |", "pass@4 |", "maj@1 |", "maj@4 |", f"{SAMPLES} samples"):
            self.assertIn(words, report.stdout)
        table = subprocess.run([FULLBAND, "report", "--store", str(self.store), "--pass-k", "3"], capture_output=True,
                               text=True, check=True)
        self.assertIn("pass@3 |", table.stdout)
        self.assertNotIn("pass@4", table.stdout)


if __name__ == "__main__":
    unittest.main()

