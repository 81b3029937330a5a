"""Code suites through `fullband grade` and `fullband run`: verdicts, refusals, and with --data the data sets' own solutions.

Run: python3 code_test.py PROGRAM            bundled suites and what is refused
     python3 code_test.py PROGRAM --data     HumanEval, MBPP and their plus versions, where they are at hand
"""
from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent.parent
DATA = Path(os.environ.get("FULLBAND_SHARED", HOME.parent / "shared")) / "datasets"
SUITES = {  # file, id, solution, items
    "humaneval": ("humaneval/HumanEval.jsonl.gz", "canonical_solution", 164),
    "humaneval_plus": ("humaneval_plus/HumanEvalPlus-OriginFmt.jsonl.gz", "canonical_solution", 164),
    "mbpp": ("mbpp/mbpp.jsonl", "code", 500),
    "mbpp_plus": ("mbpp_plus/MbppPlus-OriginFmt.jsonl.gz", "code", 378),
}
# Solutions that take more than ten seconds: on a slow or busy machine they may run out of time.
SLOW = {"humaneval_plus": {"HumanEval/15", "HumanEval/139"}, "mbpp_plus": {"255", "392", "599"}}
OUT_OF_TIME = {"timeout", "cpu_limit", "memory_limit"}


def rows(path: Path) -> list[dict]:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Grading(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def fullband(self, *arguments: object, path: str | None = None) -> subprocess.CompletedProcess:
        environment = os.environ | ({"PATH": path} if path else {})
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, env=environment, check=False,
                              stdin=subprocess.DEVNULL)

    def write(self, lines: list[tuple[str, str]]) -> Path:
        file = self.path / "completions.jsonl"
        file.write_text("".join(json.dumps({"item": item, "completion": text}) + "\n" for item, text in lines))
        return file

    def grade(self, suite: str, lines: list[tuple[str, str]], *more: object) -> dict:
        done = self.fullband("grade", "--suite", suite, "--completions", self.write(lines), "--json", *more)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        return json.loads(done.stdout)


def contained() -> bool:
    return subprocess.run([PROGRAM, "sandbox-check", "--repeats", "0"], capture_output=True, check=False).returncode == 0


class Bundled(Grading):
    def setUp(self):
        super().setUp()
        self.functions = rows(HOME / "tasks" / "mini" / "mini_humaneval.jsonl")
        self.programs = rows(HOME / "tasks" / "mini" / "mini_mbpp.jsonl")

    def test_solutions_pass_and_those_of_others_do_not(self):
        if not contained():
            self.skipTest("programs cannot be contained here")
        for suite, items, key in (("mini_humaneval", self.functions[:12], "canonical_solution"),
                                  ("mini_mbpp", self.programs[:12], "code")):
            ids = [item["task_id"] for item in items]
            right = self.grade(suite, [(item["task_id"], item[key]) for item in items])
            self.assertEqual((right["n"], right["correct"]), (12, 12), right)
            self.assertEqual([row["item"] for row in right["items"]], [str(item) for item in ids])
            wrong = self.grade(suite, [(item["task_id"], other[key]) for item, other in zip(items, items[1:] + items[:1])])
            self.assertEqual((wrong["n"], wrong["outcomes"]["incorrect"]), (12, 12), wrong)
            alone = self.grade(suite, [(item["task_id"], item[key]) for item in items], "--workers", 1)
            self.assertEqual(alone, right)

    def test_answers_of_every_shape(self):
        if not contained():
            self.skipTest("programs cannot be contained here")
        item = self.functions[0]
        body, whole = item["canonical_solution"], item["prompt"] + item["canonical_solution"]
        shapes = {body: "correct", whole: "correct", "import math\n\n" + whole + "\nprint(1)\n": "correct",
                  body + "\n\ndef unfinished(": "correct", f"```python\n{whole}```\nIt is right.": "correct",
                  "    return None\n": "incorrect", "": "no_answer", "    import sys\n    sys.exit()\n": "incorrect"}
        for text, outcome in shapes.items():
            graded = self.grade("mini_humaneval", [(item["task_id"], text)])
            self.assertEqual(graded["items"][0]["outcome"], outcome, (text, graded))
        fenced = f"Sure!\n\n```python\n{whole}```\n\n```python\nprint({item['entry_point']}(1))\n```"
        graded = self.grade("mini_humaneval", [(item["task_id"], fenced)], "--format", "chat")
        self.assertEqual(graded["correct"], 1, graded)

    def test_suspicious_passes_are_counted(self):
        if not contained():
            self.skipTest("programs cannot be contained here")
        item = self.functions[0]
        text = "    import ctypes\n" + item["canonical_solution"]
        graded = self.grade("mini_humaneval", [(item["task_id"], text)])
        self.assertEqual((graded["correct"], graded["items"][0]["detail"]), (1, "suspicious"))
        said = self.fullband("grade", "--suite", "mini_humaneval", "--completions", self.path / "completions.jsonl")
        self.assertIn("suspicious  1 of the correct ones", said.stdout)

    def test_refused_where_nothing_contains_programs(self):
        item = self.functions[0]
        file = self.write([(item["task_id"], item["canonical_solution"])])
        grade = ("grade", "--suite", "mini_humaneval", "--completions", file)
        store = self.path / "runs.db"
        run = ("run", "--model", HOME / "models" / "mini-fbt", "--suite", "mini_gsm8k,mini_mbpp", "--setting", "standard",
               "--limit", 1, "--max-new", 4, "--quiet", "--store", store)
        for command in (grade, run):
            done = self.fullband(*command, path="/nonexistent")
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            for words in ("suite mini_", "bubblewrap is missing", "--unprotected"):
                self.assertIn(words, done.stderr)
        self.assertFalse(store.exists())  # nothing was asked
        done = self.fullband(*grade, "--unprotected", "--json", path="/nonexistent")
        self.assertEqual((done.returncode, json.loads(done.stdout)["correct"]), (0, 1), done.stderr)
        done = self.fullband(*run, "--unprotected", path="/nonexistent")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("mini_mbpp", done.stdout)

    def test_pairs(self):
        if not contained():
            self.skipTest("programs cannot be contained here")
        gold = json.dumps({"entry_point": "f", "setup": "", "tests": ["assert f() == 1"]})
        file = self.path / "pairs.jsonl"
        file.write_text("".join(json.dumps({"completion": f"def f():\n    return {n}", "gold": gold}) + "\n" for n in (1, 2)))
        done = self.fullband("grade", "--grader", "execute", "--pairs", file, "--json")
        self.assertEqual([row["detail"] for row in json.loads(done.stdout)["items"]], ["passed", "assertion"], done.stderr)


class Solutions(Grading):
    def all_pass(self, suite: str):
        name, key, count = SUITES[suite]
        if not (DATA / name).exists():
            self.skipTest("the public data files are not at hand")
        if not contained():
            self.skipTest("programs cannot be contained here")
        lines = [(row["task_id"], row[key]) for row in rows(DATA / name) if suite != "mbpp" or 11 <= row["task_id"] <= 510]
        began = time.monotonic()
        graded = self.grade(suite, lines, "--data-dir", DATA)
        print(f"{suite}: {graded['correct']} of {graded['n']} in {time.monotonic() - began:.0f} s", file=sys.stderr)
        self.assertEqual(graded["n"], count)
        late = {row["item"] for row in graded["items"] if row["detail"] in OUT_OF_TIME} & SLOW.get(suite, set())
        failed = [row for row in graded["items"] if row["detail"] != "passed" and row["item"] not in late]
        self.assertEqual(failed, [])
        self.assertEqual(graded["correct"], count - len(late))

    def test_humaneval(self):
        self.all_pass("humaneval")

    def test_mbpp(self):
        self.all_pass("mbpp")

    def test_humaneval_plus(self):
        self.all_pass("humaneval_plus")

    def test_mbpp_plus(self):
        self.all_pass("mbpp_plus")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    wanted = Solutions if "--data" in sys.argv else Bundled
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(wanted)
    result = unittest.TextTestRunner().run(suite)
    if result.skipped and len(result.skipped) == result.testsRun:
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
