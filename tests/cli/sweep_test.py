"""`fullband sweep`: what it plans, runs, merges, resumes and reports, with tiny models and with the shipped file.

Run: python3 sweep_test.py PROGRAM

What the plan says (samples, those in the store, positions, growth of the store) is compared with what the store then
has; each of these comparisons is seen to fail where the figures are spoilt.
"""
from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from dataclasses import replace
from pathlib import Path

try:
    import tiny
except ImportError:
    print("NumPy is missing (run scripts/setup); skipped")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 600

GENERATE = tiny.replaced(tiny.GENERATE_TOML, 'name = "own"', 'name = "sums"').replace("own.jsonl", "sums.jsonl")
GENERATE = tiny.replaced(GENERATE, "max_new_tokens = 4", "max_new_tokens = 24")
CHOOSE = tiny.replaced(tiny.CHOOSE_TOML, 'name = "own"', 'name = "colours"').replace("own.jsonl", "colours.jsonl")
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: "
SUMS = b"".join(b'{"question": "%d+%d?", "answer": "#### %d"}\n' % (i, i + 1, 2 * i + 1) for i in range(30))
COLOUR = b'{"query": "Colour %d?", "choices": ["blue", "green"], "gold": %d}\n'
COLOURS = b"".join(COLOUR % (i, i % 2) for i in range(24))

# Two groups that share the first model; latent on the sums is in both.
SWEEP = """store = "a.db"
suites = ["suites/sums.toml", "suites/colours.toml"]
models = ["latent_model"]

[engine]
batch = 4
threads = 1

[[sweep]]
settings = ["standard", "latent@2"]
formats = ["completion", "chat"]

[[sweep]]
models = ["latent_model", "ordinary_model"]
suites = ["suites/sums.toml"]
settings = ["standard"]
shots = [0, 2]
limit = 10
"""


def environment() -> dict[str, str]:
    return os.environ | {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "10000"}


def rows(plan: str) -> list[dict]:
    """The table of a plan: a dictionary a run, numbers as such."""
    head, *lines = plan.split("\n\n")[0].splitlines()
    names = [name.strip() for name in re.split(r"\s{2,}", head.strip())]
    found = []
    for line in lines:
        cells = re.split(r"\s{2,}", line.strip())
        assert len(cells) == len(names), line
        row = dict(zip(names, cells))
        for name in ("shots", "samples", "to do", "positions"):
            row[name] = int(row[name].replace(",", ""))
        found.append(row)
    return found


def seconds(time: str) -> int:
    """Of "45 s", "≤ 12:34 min", "3:05:10 h"."""
    total = 0
    for part in time.removeprefix("≤ ").split()[0].split(":"):
        total = 60 * total + int(part)
    return total


def growth(plan: str) -> int:
    """Bytes that the store is said to grow by."""
    number, unit = re.search(r"grows by (?:about|at most) ([\d.]+) (bytes|KiB|MiB)", plan).groups()
    return int(float(number) * {"bytes": 1, "KiB": 2**10, "MiB": 2**20}[unit])


def query(store: Path, text: str) -> list[tuple]:
    database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        return database.execute(text).fetchall()
    finally:
        database.close()


COUNTS = """SELECT substr(r.key, 1, 8), count(s.id), sum(s.prefill_forwards + s.decode_forwards) FROM runs r
JOIN items i ON i.run_id = r.id JOIN samples s ON s.item_id = i.id GROUP BY r.id"""
CONTENTS = """SELECT r.key, i.item, s.sample, s.content_sha256 FROM runs r JOIN items i ON i.run_id = r.id
JOIN samples s ON s.item_id = i.id ORDER BY 1, 2, 3"""


def wrong_counts(plan: list[dict], stored: list[tuple], tolerance: float | None) -> list[str]:
    """Where samples or, within `tolerance`, position-forwards of the runs are not as planned."""
    counts = {key: (samples, positions) for key, samples, positions in stored}
    if counts.keys() != {row["run"] for row in plan}:
        return [f"runs {sorted(counts)} are not those planned"]
    wrong = []
    for row in plan:
        samples, positions = counts[row["run"]]
        if samples != row["samples"]:
            wrong.append(f"{row}: {samples} samples")
        if tolerance is not None and abs(positions - row["positions"]) > tolerance * positions:
            wrong.append(f"{row}: {positions} positions")
    return wrong


class Sweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.origin = Path(cls.temporary.name) / "origin"
        shape = tiny.checkpoints.Shape("tiny", width=16, inner=24, layers=1, heads=2, groups=1, vocab=3100)
        tiny.model(cls.origin / "latent_model", shape, "qwen_kind")
        tiny.model(cls.origin / "ordinary_model", replace(shape, fusion=None), "qwen_kind")
        for name in ("latent_model", "ordinary_model"):
            (cls.origin / name / "chat_template.jinja").write_text(TEMPLATE)
        suites = cls.origin / "suites"
        suites.mkdir()
        for name, text, items in (("sums", GENERATE, SUMS), ("colours", CHOOSE, COLOURS)):
            (suites / f"{name}.toml").write_text(text)
            (suites / f"{name}.jsonl").write_bytes(items)

    def setUp(self):
        self.folder = Path(self.temporary.name) / self.id().rpartition(".")[2]
        shutil.copytree(self.origin, self.folder)
        self.store = self.folder / "a.db"
        self.file = self.folder / "sweep.toml"
        self.file.write_text(SWEEP)

    def program(self, *words: str, code: int = 0) -> str:
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=TIMEOUT, env=environment())
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def sweep(self, *more: str, code: int = 0) -> str:
        return self.program("sweep", str(self.file), "--quiet", *more, code=code)

    def samples_stored(self) -> int:
        """0 where the store is not there or has no tables yet."""
        if not self.store.exists() or not query(self.store, "SELECT 1 FROM sqlite_master WHERE name = 'samples'"):
            return 0
        return query(self.store, "SELECT count(*) FROM samples")[0][0]

    def test_plans_every_run_once(self):
        plan = rows(self.sweep("--dry-run"))
        self.assertFalse(self.store.exists())
        asked = [(row["model"], row["suite"], row["setting"], row["format"], row["shots"]) for row in plan]
        latent = [("latent_model", suite, setting, form, 0) for form in ("completion", "chat")
                  for suite in ("sums", "colours") for setting in ("standard", "latent@2")]
        # standard without shots is in the first group already, on all items.
        self.assertEqual(asked, latent + [("latent_model", "sums", "standard", "completion", 2),
                                          ("ordinary_model", "sums", "standard", "completion", 0),
                                          ("ordinary_model", "sums", "standard", "completion", 2)])
        self.assertEqual([row["samples"] for row in plan], [30, 30, 24, 24] * 2 + [10] * 3)
        self.assertEqual([row["to do"] for row in plan], [row["samples"] for row in plan])

    def test_the_larger_of_two_stands_in_the_place_of_the_first(self):
        smaller = '[[sweep]]\nlimit = 3\nsettings = ["standard"]\n\n[[sweep]]'
        self.file.write_text(tiny.replaced(SWEEP, "[[sweep]]", smaller))
        plan = rows(self.sweep("--dry-run"))
        self.assertEqual([(row["suite"], row["setting"], row["samples"]) for row in plan[:3]],
                         [("sums", "standard", 30), ("colours", "standard", 24), ("sums", "latent@2", 30)])

    def test_runs_what_it_plans_and_no_more(self):
        plan = self.sweep("--dry-run")
        done = self.sweep()
        self.assertTrue(done.startswith(plan.split("\n")[0]))
        stored = query(self.store, COUNTS)
        # Of what generates the lengths are unknown; what it scores is known to the position.
        self.assertEqual(wrong_counts(rows(plan), stored, None), [])
        scored = [row for row in rows(plan) if row["suite"] == "colours"]
        mine = [row for row in stored if row[0] in {row["run"] for row in scored}]
        self.assertEqual(wrong_counts(scored, mine, 0.0), [])
        bytes_taken = self.store.stat().st_size
        self.assertLess(bytes_taken * 0.7, growth(plan))
        self.assertLess(growth(plan), bytes_taken * 1.6)
        for spoil in ("samples", "positions"):
            scored[0][spoil] += 1
            self.assertNotEqual(wrong_counts(scored, mine, 0.0), [], spoil)
            scored[0][spoil] -= 1
        self.assertNotEqual(wrong_counts(scored[1:], mine, 0.0), [])

    def test_lengths_of_earlier_traces_are_known(self):
        self.sweep()
        # Another draw of the shots: another run, of items whose traces are known.
        text = SWEEP.replace("shots = [0, 2]", "shots = [2]\nfewshot_seed = 5")
        text = tiny.replaced(text, 'models = ["latent_model", "ordinary_model"]', "")
        self.file.write_text(text)
        plan = self.sweep("--dry-run")
        fresh = [row for row in rows(plan) if row["to do"]]
        self.assertEqual([(row["suite"], row["shots"], row["to do"]) for row in fresh], [("sums", 2, 10)])
        self.assertNotIn("≤", plan)
        self.assertIn("rates: earlier runs", plan)
        self.sweep()
        stored = [row for row in query(self.store, COUNTS) if row[0] == fresh[0]["run"]]
        self.assertEqual(wrong_counts(fresh, stored, 0.5), [])
        fresh[0]["positions"] *= 2
        self.assertNotEqual(wrong_counts(fresh, stored, 0.5), [])

    def test_growth_is_of_what_is_new(self):
        text = f'store = "a.db"\nmodels = ["{ROOT / "models" / "mini-fbt"}"]\nsuites = ["mini_gsm8k"]\n'
        text += 'settings = ["standard", "latent"]\nshots = 8\nmax_new = 8\nlimit = '
        self.file.write_text(text + "40\n")
        self.sweep()
        before = self.store.stat().st_size
        # Long prompts, of further items in runs that are there.
        self.file.write_text(text + "160\n")
        plan = self.sweep("--dry-run")
        self.sweep()
        taken = self.store.stat().st_size - before
        self.assertLess(abs(growth(plan) - taken), 0.25 * taken, (growth(plan), taken))
        prompts = query(self.store, "SELECT sum(length(prompt)) FROM items WHERE position >= 40")[0][0]
        self.assertGreater(prompts, 0.3 * taken)  # which would be missed

    def begin(self, suite: str, setting: str, items: int) -> None:
        self.program("run", "--model", str(self.folder / "latent_model"), "--suite",
                     str(self.folder / "suites" / f"{suite}.toml"), "--setting", setting, "--limit", str(items),
                     "--store", str(self.store), "--quiet")

    def alter(self, text: str) -> None:
        database = sqlite3.connect(self.store)
        database.execute(text)
        database.commit()
        database.close()

    def test_the_rate_is_that_of_the_run_most_alike(self):
        rates = {}  # position-forwards a second
        for number, (suite, setting) in enumerate((("sums", "standard"), ("sums", "latent@2"), ("colours", "standard"))):
            self.begin(suite, setting, 8)
            self.alter(f"UPDATE sessions SET seconds = {(number + 1) * 10000} WHERE run_id = {number + 1}")
            rates[suite, setting] = query(self.store, COUNTS)[number][2] / ((number + 1) * 10000)
        plan = rows(self.sweep("--dry-run"))

        def wrong(expected: dict) -> list[dict]:
            found = []
            for row in plan[:8]:  # completion and chat of the first model
                rate = expected.get((row["suite"], row["setting"]), expected["colours", "standard"])
                if abs(seconds(row["time"]) - row["positions"] / rate) > 2:
                    found.append(row)
            return found
        self.assertEqual(wrong(rates), [])
        for what in rates:
            self.assertNotEqual(wrong(rates | {what: 2 * rates[what]}), [], what)
        # Another machine's runs tell nothing of this one.
        self.alter("UPDATE sessions SET host = 'elsewhere'")
        elsewhere = self.sweep("--dry-run")
        self.assertIn("measured now on", elsewhere)
        self.assertNotIn("earlier runs", elsewhere)

    def test_few_lengths_tell_nothing_and_many_do(self):
        for items, at_most in ((7, True), (8, False)):
            self.begin("sums", "standard", items)
            first = rows(self.sweep("--dry-run"))[0]
            self.assertEqual((first["samples"] - first["to do"], "≤" in first["time"]), (items, at_most))

    def test_goes_on_with_what_run_has_begun(self):
        self.begin("sums", "standard", 7)
        plan = rows(self.sweep("--dry-run"))
        self.assertEqual([row["samples"] - row["to do"] for row in plan], [7] + [0] * 10)
        self.sweep()
        self.assertEqual(wrong_counts(plan, query(self.store, COUNTS), None), [])
        once = query(self.store, CONTENTS)
        # All of it by `run`: the same bits.
        other = self.folder / "other.db"
        both, sums = "sums,colours", "sums"
        for model, suites, more in (("latent_model", both, "--setting standard,latent@2"),
                                    ("latent_model", both, "--setting standard,latent@2 --format chat"),
                                    ("latent_model", sums, "--setting standard --shots 2 --limit 10"),
                                    ("ordinary_model", sums, "--setting standard --limit 10"),
                                    ("ordinary_model", sums, "--setting standard --shots 2 --limit 10")):
            paths = ",".join(str(self.folder / "suites" / f"{name}.toml") for name in suites.split(","))
            self.program("run", "--model", str(self.folder / model), "--suite", paths, "--store", str(other), "--quiet",
                         *more.split())
        self.assertEqual(query(other, CONTENTS), once)

    def test_nothing_to_do_loads_nothing(self):
        first = self.sweep()
        before, sessions = self.store.read_bytes(), query(self.store, "SELECT count(*) FROM sessions")
        again = self.sweep()
        self.assertEqual({row["to do"] for row in rows(again)}, {0})
        self.assertEqual(query(self.store, "SELECT count(*) FROM sessions"), sessions)
        self.assertEqual(self.store.read_bytes(), before)
        self.assertEqual(again.split("\n\n")[-1], first.split("\n\n")[-1])  # the table of results
        # A verdict that is missing is made up for.
        self.alter("DELETE FROM grades WHERE sample_id IN (SELECT id FROM samples LIMIT 1)")
        self.sweep()
        ungraded = "SELECT count(*) FROM samples WHERE id NOT IN (SELECT sample_id FROM grades)"
        self.assertEqual(query(self.store, ungraded), [(0,)])

    def test_stops_at_a_signal_and_goes_on(self):
        text = tiny.replaced(SWEEP, 'formats = ["completion", "chat"]', "max_new = 1500\nlimit = 12")
        self.file.write_text(text)
        process = subprocess.Popen([PROGRAM, "sweep", str(self.file), "--quiet"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment())
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if self.samples_stored() > 0:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT, stderr)
        self.assertIn(b"stopped", stderr)
        total = sum(row["samples"] for row in rows(self.sweep("--dry-run")))
        self.assertTrue(0 < self.samples_stored() < total)
        self.sweep()
        self.assertEqual(self.samples_stored(), total)

    def test_samples_and_report(self):
        self.file.write_text('store = "deep/er/a.db"\nreport = "report"\nmodels = ["latent_model"]\n'
                             'suites = ["suites/sums.toml"]\nsettings = ["latent"]\nlimit = 4\nsamples = 3\n'
                             'temperature = 1\nseed = 7\n')
        self.assertEqual([row["samples"] for row in rows(self.sweep())], [12])
        self.assertIn("sums", (self.folder / "report" / "report.md").read_text())
        self.assertEqual(query(self.folder / "deep/er/a.db", "SELECT seed, temperature FROM runs"), [(7, 1.0)])

    def test_the_file_that_is_shipped(self):
        shutil.copy(ROOT / "sweep.toml", self.file)
        for name in ("mini-fbt", "mini-standard"):
            (self.folder / "models").mkdir(exist_ok=True)
            (self.folder / "models" / name).symlink_to(ROOT / "models" / name)
        plan = self.sweep("--dry-run")
        self.assertFalse((self.folder / "out").exists())
        self.assertEqual(len(rows(plan)), 4 * 3 + 3 + 2 + 3)
        self.sweep()
        store = self.folder / "out/sweep/runs.db"
        self.assertEqual(wrong_counts(rows(plan), query(store, COUNTS), None), [])
        self.assertIn("maj@", (self.folder / "out/sweep/report/report.md").read_text())


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
