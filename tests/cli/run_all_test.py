"""scripts/run_all with a tiny model and suites of its own: all that can be asked is, the rest is named with the reason.

Run: python3 run_all_test.py PROGRAM
"""
from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import tiny
except ImportError:
    print("NumPy is missing (run scripts/setup); skipped")
    sys.exit(77)

HOME = Path(__file__).resolve().parent.parent.parent
NOWHERE = "http://127.0.0.1:9"  # the port that discards: nobody listens
ITEMS = tiny.GENERATE_ITEMS


def suite(name: str, data: str, base: str = tiny.GENERATE_TOML) -> str:
    return tiny.replaced(tiny.replaced(base, 'name = "own"', f'name = "{name}"'), '"own.jsonl"', f'"{data}"')


class RunAll(unittest.TestCase):
    def setUp(self):
        self.program = PROGRAM
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.home, self.store = self.folder / "home", self.folder / "runs.db"
        tasks = self.home / "tasks"
        (tasks / "data").mkdir(parents=True)
        (self.home / "scripts").symlink_to(HOME / "scripts")
        (tasks / "here.jsonl").write_bytes(ITEMS)
        (tasks / "choices.jsonl").write_bytes(tiny.CHOOSE_ITEMS)
        (self.folder / "beside").mkdir()
        (self.folder / "beside" / "elsewhere.jsonl").write_bytes(ITEMS)
        sha256 = hashlib.sha256(ITEMS).hexdigest()
        (tasks / "data" / "sources.toml").write_text(
            f'[sums]\nrepository = "a/b"\ncommit = "0123456789ab"\nlicence = "MIT"\n'
            f'files = [{{file = "own.jsonl", bytes = {len(ITEMS)}, sha256 = "{sha256}"}}]\n')
        for name, text in {"asked": suite("asked", "here.jsonl"), "chosen": suite("chosen", "choices.jsonl",
                                                                                 tiny.CHOOSE_TOML),
                           "elsewhere": suite("elsewhere", "elsewhere.jsonl"),
                           "unfetched": suite("unfetched", "sums/own.jsonl")}.items():
            (tasks / f"{name}.toml").write_text(text)
        (tasks / "groups.toml").write_text('few = ["chosen", "asked"]\n')
        self.model = tiny.model(self.folder / "model", tiny.checkpoints.Shape(
            "tiny", width=16, inner=24, layers=1, heads=2, groups=1, vocab=3100), "qwen_kind")

    def run_it(self, *arguments: object, code: int = 0) -> subprocess.CompletedProcess:
        environment = os.environ | {"FULLBAND_HOME": str(self.home), "FULLBAND_PROGRAM": self.program, "no_proxy": "*",
                                    "FULLBAND_CACHE": str(self.folder / "cache"), "FULLBAND_DATA_URL": NOWHERE,
                                    "FULLBAND_PYTHON": sys.executable}
        environment.pop("FULLBAND_DATA", None)
        done = subprocess.run([sys.executable, "-B", HOME / "scripts" / "run_all", "--model", self.model, "--store",
                               self.store, *map(str, arguments)], capture_output=True, text=True, check=False,
                              env=environment)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def samples(self) -> dict[tuple[str, str], int]:
        database = sqlite3.connect(self.store)
        rows = database.execute("SELECT suite, setting, COUNT(*) FROM samples JOIN items ON items.id = item_id JOIN runs "
                                "ON runs.id = run_id GROUP BY 1, 2").fetchall()
        database.close()
        return {tuple(key): count for *key, count in rows}

    def test_asks_what_it_can_and_names_the_rest(self):
        done = self.run_it("--setting", "standard,latent", "--limit", 2)
        left_out = [line for line in done.stdout.splitlines() if line.startswith("left out: ")]
        self.assertEqual([line.split(":")[1].strip() for line in left_out], ["elsewhere", "unfetched"])
        self.assertIn("elsewhere.jsonl", left_out[0])
        self.assertIn(f"{NOWHERE}/a/b/0123456789ab/own.jsonl", left_out[1])
        asked = {(name, setting): 2 for name in ("asked", "chosen") for setting in ("standard", "latent")}
        self.assertEqual(self.samples(), asked)
        done = self.run_it("--setting", "standard,latent", "--limit", 2, "--data-dir", self.folder / "beside",
                           "--data-dir", self.folder / "missing")
        self.assertNotIn("left out: elsewhere", done.stdout)
        self.assertEqual(self.samples(), asked | {("elsewhere", setting): 2 for setting in ("standard", "latent")})

    def test_one_suite_that_fails_costs_the_others_nothing(self):
        done = self.run_it("--suite", "few", "--setting", "parallel@2", code=1)  # only scores
        self.assertRegex(done.stdout, r"failed: asked: .*parallel@2")
        self.assertEqual(self.samples(), {("chosen", "parallel@2"): 2})

    def test_answers_end_early_but_never_late(self):
        for most, tokens in ((2, 2), (128, 4)):
            self.run_it("--suite", "asked", "--max-new", most, "--limit", 1, "--setting", "standard")
            database = sqlite3.connect(self.store)
            limits = {json.loads(identity)["max_new_tokens"] for (identity,) in database.execute(
                "SELECT identity FROM runs")}
            database.close()
            self.assertIn(tokens, limits)

    def test_programs_need_the_sandbox(self):
        program = self.folder / "no_sandbox"
        program.write_text(f"""#!/bin/sh
if [ "$1" = sandbox-check ]; then
  echo '{{"works": false, "obstacles": [{{"why": "no namespaces", "remedy": "ask for them"}}]}}'
  exit 1
fi
'{PROGRAM}' "$@" | sed 's/"number"/"execute"/'
""")
        program.chmod(0o755)
        self.program = str(program)
        done = self.run_it("--suite", "asked,chosen", "--setting", "standard")
        self.assertIn("left out: asked: what a model writes cannot be run: no namespaces (ask for them)", done.stdout)
        self.assertEqual(self.samples(), {("chosen", "standard"): 2})

    def test_unknown_suites_are_refused(self):
        done = self.run_it("--suite", "few,fewer", code=2)
        self.assertIn("run_all: fewer: is neither a suite nor a group", done.stderr)
        self.assertFalse(self.store.exists())


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
