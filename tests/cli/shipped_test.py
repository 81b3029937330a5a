"""The shipped models are what their cards say: size, format, and the accuracy of each setting on the whole suites.

Run: python3 shipped_test.py PROGRAM
"""
from __future__ import annotations

import json
import math
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent.parent
MODELS = {"mini-fbt": "glu", "mini-standard": "none", "mini-two-pass": "glu"}
LARGEST = 12 << 20  # bytes of all models together
POINTS = 1.0  # another processor rounds otherwise, which turns a few answers
CODE = ("mini_humaneval", "mini_mbpp")  # are graded by running what the model wrote
SUITES = ("mini_state_tracking", "mini_gsm8k")  # where latent@2 is significantly better than standard


def figures(card: str) -> dict[tuple[str, str], float]:
    """Percent by suite and setting, of the card's table whose header is "| suite | items | SETTING | ..."."""
    found, settings = {}, []
    for line in card.splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        if cells[:2] == ["suite", "items"]:
            settings = cells[2:]
        elif settings and cells[0].startswith("mini_"):
            found |= {(cells[0], setting): float(cell.rstrip(" %")) for setting, cell in zip(settings, cells[2:])}
        elif settings and not line.startswith("|"):
            settings = []
    return found


def outcomes(store: Path) -> dict[tuple[str, str], dict[str, bool]]:
    """Whether each item was right by the headline grader, by suite and setting."""
    database = sqlite3.connect(store)
    rows = database.execute(
        "SELECT suite, setting, item, outcome = 'correct' FROM grades JOIN samples ON samples.id = sample_id "
        "JOIN items ON items.id = item_id JOIN runs ON runs.id = run_id WHERE grader = headline").fetchall()
    database.close()
    found: dict[tuple[str, str], dict[str, bool]] = {}
    for suite, setting, item, right in rows:
        found.setdefault((suite, setting), {})[item] = bool(right)
    return found


def mcnemar(a: dict[str, bool], b: dict[str, bool]) -> tuple[int, int, float]:
    """(right in a alone, in b alone, exact two-sided p)."""
    only_a, only_b = sum(a[item] > b[item] for item in a), sum(b[item] > a[item] for item in a)
    n = only_a + only_b
    tail = sum(math.comb(n, k) for k in range(min(only_a, only_b) + 1)) / 2**n
    return only_a, only_b, min(1.0, 2 * tail)


class Shipped(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = Path(folder.name) / "runs.db"

    def run_it(self, *arguments: object) -> str:
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_size_and_format(self):
        files = [file for model in MODELS for file in (HOME / "models" / model).rglob("*") if file.is_file()]
        self.assertLessEqual(sum(file.stat().st_size for file in files), LARGEST)
        for model, fusion in MODELS.items():
            config = json.loads((HOME / "models" / model / "config.json").read_text())
            self.assertEqual(config.get("latent_feedback", {"fusion": "none"})["fusion"], fusion)
            said = self.run_it("inspect", "--model", HOME / "models" / model)
            self.assertRegex(said, r"parameters +5(90464|57696) ")
            self.assertTrue((HOME / "models" / model / "training.toml").exists())

    def asked(self, model: str):
        """The card's figures, and what comes out here."""
        stated = figures((HOME / "models" / model / "README.md").read_text(encoding="utf-8"))
        self.assertTrue(stated)
        if subprocess.run([PROGRAM, "sandbox-check"], capture_output=True, check=False).returncode != 0:
            print("programs cannot be contained here: the code suites are left out")
            stated = {key: percent for key, percent in stated.items() if key[0] not in CODE}
        suites, settings = (",".join(sorted({key[part] for key in stated})) for part in (0, 1))
        # One thread: beside other tests, several would mostly wait for each other.
        self.run_it("run", "--model", HOME / "models" / model, "--suite", suites, "--setting", settings, "--store",
                    self.store, "--threads", 1)
        return stated, outcomes(self.store)

    def assert_as_stated(self, stated, found):
        for key, percent in stated.items():
            here = 100 * sum(found[key].values()) / len(found[key])
            self.assertLessEqual(abs(here - percent), POINTS, f"{key}: {here:.1f} %, the card says {percent:.1f} %")

    def test_mini_fbt(self):
        stated, found = self.asked("mini-fbt")
        self.assert_as_stated(stated, found)
        for suite in SUITES:
            only_standard, only_latent, p = mcnemar(found[suite, "standard"], found[suite, "latent@2"])
            self.assertGreater(only_latent, only_standard)
            self.assertLess(p, 0.01, suite)
            for setting in ("latent@16", "latent@exact"):  # stable: no worse than the best by more than three points
                best = max(sum(right.values()) for (name, _), right in found.items() if name == suite)
                share = (best - sum(found[suite, setting].values())) / len(found[suite, setting])
                self.assertLessEqual(share, 0.03, (suite, setting))

    def test_mini_two_pass(self):
        self.assert_as_stated(*self.asked("mini-two-pass"))

    def test_mini_standard(self):
        self.assert_as_stated(*self.asked("mini-standard"))

    def test_differences_are_noticed(self):
        stated = figures("| suite | items | `standard` | `latent` |\n|---|---|---|---|\n| mini_a | 4 | 50.0 | 75.0 |\n")
        self.assertEqual(stated, {("mini_a", "standard"): 50.0, ("mini_a", "latent"): 75.0})
        found = {("mini_a", "standard"): dict(zip("abcd", [True, True, False, False])),
                 ("mini_a", "latent"): dict(zip("abcd", [True, True, True, False]))}
        self.assert_as_stated(stated, found)
        with self.assertRaises(AssertionError):
            self.assert_as_stated(stated | {("mini_a", "latent"): 70.0}, found)
        self.assertEqual(mcnemar(found["mini_a", "standard"], found["mini_a", "latent"]), (0, 1, 1.0))
        ten = {str(i): False for i in range(10)}
        self.assertEqual(mcnemar(ten, {item: True for item in ten}), (0, 10, 2 / 1024))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=1)
