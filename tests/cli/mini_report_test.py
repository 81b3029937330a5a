"""scripts/mini_report with random models: asks and measures all that it should, and nothing twice.

Run: python3 mini_report_test.py PROGRAM
"""
from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import numpy  # noqa: F401
except ImportError:
    print("NumPy is missing (run scripts/setup); skipped")
    sys.exit(77)

import tiny
from shipped_test import figures
from tiny import checkpoints

HOME = Path(__file__).resolve().parent.parent.parent
SUITES = sorted(file.stem for file in (HOME / "tasks").glob("mini_*.toml"))
CODE = ("mini_humaneval", "mini_mbpp")  # asked only where programs can be contained
SETTINGS = {
    "mini-fbt": ("standard", "latent", "latent@2", "latent@3", "latent@16", "latent@exact", "latent@2:stale",
                 "latent@2:reversed", "latent@2:constant_gate"),
    "mini-standard": ("standard",),
    "mini-two-pass": ("standard", "latent@2", "latent@16", "latent@exact"),
}
MEASURED = ("mini_choice", "mini_gsm8k", "mini_state_tracking_steps")
LIMIT = 2


def shape(model: str) -> checkpoints.Shape:
    return checkpoints.Shape(model, fusion=None if model == "mini-standard" else "glu", width=16, inner=24, layers=1,
                             heads=2, groups=1, vocab=3100, extra={"max_position_embeddings": 1024})


class MiniReport(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.models, self.out = Path(folder.name) / "models", Path(folder.name) / "out"
        for seed, model in enumerate(SETTINGS):
            tiny.model(self.models / model, shape(model), "qwen_kind", seed)

    def run_it(self, *arguments):
        # A home of its own, so that no settings of the user's take part.
        environment = os.environ | {"FULLBAND_MODELS": str(self.models), "FULLBAND_OUT": str(self.out),
                                    "FULLBAND_PROGRAM": PROGRAM, "FULLBAND_PYTHON": sys.executable,
                                    "HOME": str(self.out.parent)}
        return subprocess.run([HOME / "scripts" / "mini_report", *arguments], capture_output=True, text=True,
                              env=environment, check=False)

    def samples(self):
        database = sqlite3.connect(self.out / "mini.db")
        rows = database.execute(
            "SELECT name, suite, setting, COUNT(*), MIN(samples.id) FROM samples JOIN items ON items.id = item_id "
            "JOIN runs ON runs.id = run_id JOIN models ON models.id = model_id GROUP BY 1, 2, 3").fetchall()
        database.close()
        return {tuple(run): (count, first) for *run, count, first in rows}

    def test_asks_and_measures_everything_once(self):
        done = self.run_it("--limit", str(LIMIT))
        self.assertEqual(done.returncode, 0, done.stderr)
        samples = self.samples()
        contained = subprocess.run([PROGRAM, "sandbox-check", "--repeats", "0"], capture_output=True, check=False).returncode == 0
        suites = [suite for suite in SUITES if contained or suite not in CODE]
        self.assertEqual(set(samples), {(model, suite, setting) for model, settings in SETTINGS.items()
                                        for suite in suites for setting in settings})
        self.assertEqual({count for count, _ in samples.values()}, {LIMIT})
        results = json.loads((self.out / "mini" / "contraction.json").read_text())
        self.assertEqual({(Path(r["model"]).name, r["source"]["suite"]) for r in results},
                         {(model, suite) for model in ("mini-fbt", "mini-two-pass") for suite in MEASURED})
        self.assertEqual({(r["texts"], len(r["passes"])) for r in results}, {(LIMIT, 16)})
        text = (self.out / "mini" / "contraction.txt").read_text()
        self.assertEqual(len([line for line in text.splitlines() if line.startswith(" exact ")]), len(results))
        self.assertIn(text, done.stdout)
        self.assertIn("latent@2:stale", (self.out / "mini" / "report.md").read_text())

        before = {file: file.stat().st_mtime_ns for file in (self.out / "mini" / "contraction").iterdir()}
        changed = self.models / "mini-two-pass" / "model.safetensors"
        os.utime(changed)
        again = self.run_it("--limit", str(LIMIT))
        self.assertEqual((again.returncode, self.samples()), (0, samples), again.stderr)
        after = {file: file.stat().st_mtime_ns for file in (self.out / "mini" / "contraction").iterdir()}
        again = [file.name for file in after if after[file] != before[file]]
        self.assertEqual(len(again), len(MEASURED))
        self.assertTrue(all(name.startswith("mini-two-pass-") for name in again), again)

    def test_the_cards_tables_come_from_the_store(self):
        self.run_it("--limit", str(LIMIT))
        # Outcomes of our own: of each suite, mini-fbt has the first item right under latent, and nothing else is right.
        database = sqlite3.connect(self.out / "mini.db")
        database.execute(
            "UPDATE grades SET outcome = CASE WHEN sample_id IN (SELECT samples.id FROM samples JOIN items "
            "ON items.id = item_id JOIN runs ON runs.id = run_id JOIN models ON models.id = model_id "
            "WHERE name = 'mini-fbt' AND setting = 'latent' AND position = 0) THEN 'correct' ELSE 'incorrect' END")
        database.commit()
        database.close()
        done = subprocess.run([sys.executable, HOME / "scripts" / "mini_tables", self.out / "mini.db"],
                              capture_output=True, text=True, check=True)
        for model, settings in SETTINGS.items():
            table = figures(done.stdout[done.stdout.index(f"models/{model}/README.md:"):].split("\n\n")[1])
            shown = [setting for setting in settings if ":" not in setting]
            self.assertEqual(table, {(suite, setting): 50.0 if (model, setting) == ("mini-fbt", "latent") else 0.0
                                     for suite in SUITES for setting in shown})
        for line in done.stdout.splitlines():
            if line.startswith("| mini_") and "p = " in line:
                self.assertIn("| 0.0 % | 0.0 % | 50.0 % | 0.0 % | 0.0 % | 0.0 % | p = 1.00 |", line)
        self.assertEqual(done.stdout.count("p = "), len(SUITES))

    def test_says_which_model_is_missing(self):
        (self.models / "mini-two-pass" / "config.json").unlink()
        done = self.run_it()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(f"{self.models}/mini-two-pass: is not there", done.stderr)

    def test_refuses_what_it_does_not_know(self):
        for arguments in (("--all",), ("--limit",), ("--limit", "0"), ("--limit", "3", "4")):
            done = self.run_it(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)


if __name__ == "__main__":
    # One thread: on a busy machine, several would mostly wait for each other.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
