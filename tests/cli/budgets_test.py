"""`fullband regrade --budgets`: cuts of one long run are the runs with these limits, verdict by verdict.

Run: python3 budgets_test.py PROGRAM
"""
from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

FULLBAND = os.path.abspath(sys.argv.pop(1))
HOME = Path(__file__).resolve().parents[2]
MODEL = HOME / "models" / "mini-fbt"
SUITE = "mini_gsm8k"
SETTINGS = ("standard", "latent@2")
BUDGETS = (3, 12, 24, 40, 64)
LIMIT = 96

FROM_SAMPLES = "FROM runs r JOIN items i ON i.run_id = r.id JOIN samples s ON s.item_id = i.id"


def verdict(table: str) -> str:
    """Columns of a verdict, in `grades` and in `budget_grades`."""
    return ", ".join(f"{table}.{name}" for name in ("outcome", "score", "extracted", "detail", "grader_version"))


def run(*words) -> subprocess.CompletedProcess:
    return subprocess.run([FULLBAND, *map(str, words)], capture_output=True, text=True, timeout=600)


def ask(store: Path, suite: str, limit: int, items: int, *more) -> None:
    """Runs `items` items of a suite under SETTINGS with at most `limit` new tokens."""
    done = run("run", "--quiet", "--model", MODEL, "--suite", suite, "--setting", ",".join(SETTINGS), "--limit", items,
               "--max-new", limit, "--threads", 1, "--store", store, *more)
    if done.returncode not in (0, 3):
        raise AssertionError(done.stderr)


def rows(store: Path, statement: str, *values) -> list[tuple]:
    database = sqlite3.connect(store)
    try:
        found = database.execute(statement, values).fetchall()
        database.commit()
        return found
    finally:
        database.close()


class Budgets(unittest.TestCase):
    """Each test has a copy of one store: 30 items under each setting."""

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.root.cleanup)
        cls.made = Path(cls.root.name) / "made.db"
        ask(cls.made, SUITE, LIMIT, 30)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.store = self.folder / "a.db"
        shutil.copy(self.made, self.store)

    def command(self, *words):
        return [FULLBAND, "regrade", "--store", str(self.store), "--suite", SUITE, *map(str, words)]

    def cut(self, *words):
        done = subprocess.run(self.command("--quiet", *words), capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def all_cuts(self):
        return rows(self.store, "SELECT * FROM budget_grades ORDER BY 1, 2, 3, 4")

    def compare(self, suite: str, budget: int, items: int, grader: str, *more):
        """Verdicts, texts and truncation of the cuts in self.store against those of a run with that limit."""
        fresh = self.folder / f"{suite}-{budget}.db"
        ask(fresh, suite, budget, items, *more)
        runs = rows(fresh, f"SELECT r.setting, i.item, {verdict('g')}, s.text, s.stop_reason IN ('length', 'context') "
                           f"{FROM_SAMPLES} JOIN grades g ON g.sample_id = s.id "
                           "WHERE r.suite = ? AND g.grader = ? ORDER BY 1, i.position", suite, grader)
        cuts = rows(self.store, f"SELECT r.setting, i.item, {verdict('b')}, "
                                "CAST(substr(CAST(s.text AS BLOB), 1, b.text_bytes) AS TEXT), b.truncated "
                                f"{FROM_SAMPLES} JOIN budget_grades b ON b.sample_id = s.id "
                                "WHERE r.suite = ? AND b.grader = ? AND b.budget = ? ORDER BY 1, i.position",
                    suite, grader, budget)
        self.assertEqual(len(runs), len(SETTINGS) * items)
        self.assertEqual(cuts, runs)
        return cuts

    def test_a_cut_is_a_run_with_that_limit(self):
        self.cut("--budgets", ",".join(map(str, BUDGETS)))
        outcomes = set()
        for budget in BUDGETS:
            outcomes |= {(row[2], row[8]) for row in self.compare(SUITE, budget, 30, "number")}
        # The comparison has seen traces that were cut and whole ones, right and not.
        self.assertTrue({("correct", 0), ("incorrect", 1), ("no_answer", 1)} <= outcomes, outcomes)

    def test_so_it_is_for_other_graders_and_samples(self):
        """lmeval_flexible takes the last number there is; three samples with a temperature."""
        self.store.unlink()
        ask(self.store, SUITE, 64, 8, "--samples", 3, "--temperature", 1)
        self.cut("--budgets", "16,40", "--grader", "number,lmeval_flexible,exact")
        for budget in (16, 40):
            fresh = self.folder / f"{budget}.db"
            ask(fresh, SUITE, budget, 8, "--samples", 3, "--temperature", 1)
            subprocess.run([FULLBAND, "regrade", "--quiet", "--store", fresh, "--suite", SUITE, "--grader",
                            "number,lmeval_flexible,exact"], check=True, capture_output=True, timeout=300)
            order = "ORDER BY r.setting, i.item, s.sample, grader"
            of_run = rows(fresh, f"SELECT r.setting, i.item, s.sample, g.grader, {verdict('g')} {FROM_SAMPLES} "
                                 f"JOIN grades g ON g.sample_id = s.id WHERE g.grader <> 'lmeval_strict' {order}")
            of_cut = rows(self.store, f"SELECT r.setting, i.item, s.sample, b.grader, {verdict('b')} {FROM_SAMPLES} "
                                      f"JOIN budget_grades b ON b.sample_id = s.id WHERE b.budget = ? {order}", budget)
            self.assertEqual(len(of_run), 2 * 8 * 3 * 3)
            self.assertEqual(of_cut, of_run)

    def test_programs_are_cut_and_run(self):
        self.store.unlink()
        try:
            ask(self.store, "mini_humaneval", 64, 3)
        except AssertionError as error:
            self.skipTest(str(error))
        done = run("regrade", "--quiet", "--store", self.store, "--suite", "mini_humaneval", "--budgets", "12,24")
        self.assertEqual(done.returncode, 0, done.stderr)
        for budget in (12, 24):
            self.compare("mini_humaneval", budget, 3, "execute")

    def test_the_limit_is_the_run_itself(self):
        self.cut("--budgets", "auto")
        budgets = [row[0] for row in rows(self.store, "SELECT DISTINCT budget FROM budget_grades ORDER BY 1")]
        self.assertEqual(budgets, [4, 8, 16, 32, 64, LIMIT])
        for figure in ("items", "correct", "accuracy", "accuracy_low", "accuracy_high", "truncated"):
            cuts = rows(self.store, f"SELECT setting, {figure} FROM budget_accuracy WHERE budget = ? ORDER BY 1", LIMIT)
            self.assertEqual(cuts, rows(self.store, f"SELECT setting, {figure} FROM run_accuracy ORDER BY 1"), figure)

    def test_what_is_there_is_kept(self):
        self.cut("--budgets", "8,16")
        before = self.all_cuts()
        grades = rows(self.store, "SELECT * FROM grades")
        head, *lines = self.cut("--budgets", "8,16,32").splitlines()
        self.assertEqual([row for row in self.all_cuts() if row[3] < 32], before)
        self.assertEqual(len(self.all_cuts()), len(before) * 3 // 2)
        self.assertEqual(rows(self.store, "SELECT * FROM grades"), grades)
        ends = {title: head.index(f" {title}") + 1 + len(title)
                for title in ("version", "budget", "unchanged", "there")}
        there = [(line[ends["version"] : ends["budget"]].strip(), line[ends["unchanged"] : ends["there"]].strip())
                 for line in lines]
        self.assertEqual(there, [("8", "30"), ("16", "30"), ("32", "")] * len(SETTINGS))

    def test_killed_and_started_again(self):
        self.cut("--budgets", "auto")
        expected = self.all_cuts()
        rows(self.store, "DELETE FROM budget_grades")
        for milliseconds in (10, 30, 60):
            process = subprocess.Popen(self.command("--quiet", "--budgets", "auto"), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(milliseconds / 1000)
            process.kill()
            process.wait()
            self.assertEqual(rows(self.store, "PRAGMA integrity_check"), [("ok",)])
            self.assertTrue(set(self.all_cuts()) <= set(expected))
        self.cut("--budgets", "auto")
        self.assertEqual(self.all_cuts(), expected)

    def test_wrong_words(self):
        for words, message in ((("--budgets", "16,x"), "'x' is no number of tokens"),
                               (("--budgets", "0"), "'0' is no number"),
                               (("--budgets", "9999"), "all runs have smaller limits"),
                               (("--budgets", "8", "--missing"), "excludes")):
            done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
        self.assertEqual(self.all_cuts(), [])


if __name__ == "__main__":
    unittest.main()
