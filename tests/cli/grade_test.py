"""`fullband grade`: pairs, completions of a suite, and files that are not as they should be."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FULLBAND = sys.argv.pop(1)


class GradeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        # A suite of gsm8k's format with data of its own.
        rows = [{"question": f"What is {n} + 1?", "answer": f"It is {n + 1}.\n#### {n + 1}"} for n in range(5)]
        (self.path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (self.path / "sums.toml").write_text(
            'name = "sums"\nversion = 1\ntitle = "sums"\nask = "generate"\nreader = "gsm8k_jsonl"\n'
            'graders = ["number", "exact"]\n[data]\npath = "data.jsonl"\norigin = "the test"\n'
            '[shots]\ndefault = 2\n[completion]\nquestion = "{question}"\nanswer = " {answer}"\n'
            'separator = "\\n"\nstop = ["\\nQ"]\n[chat]\nquestion = "{question}"\nanswer = "{answer}"\n'
            '[generate]\nmax_new_tokens = 9\ngold = "{final}"\n'
        )

    def tearDown(self):
        self.folder.cleanup()

    def grade(self, lines, *arguments):
        """Grades a file of `lines` (objects, or text as it is); returns (exit status, stdout, stderr)."""
        file = self.path / "lines.jsonl"
        file.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        command = [FULLBAND, "grade", *arguments]
        command = [str(file) if word == "FILE" else word for word in command]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def refused(self, lines, *arguments, status=1, says):
        code, out, err = self.grade(lines, *arguments)
        self.assertEqual((code, out), (status, ""), err)
        self.assertEqual(err.count("\n"), 1, err)
        for words in says:
            self.assertIn(words, err)

    def test_pairs(self):
        lines = [
            {"completion": "so \\boxed{\\frac12}", "gold": "0.5"},
            {"completion": "so \\boxed{2}", "gold": "3"},
            {"completion": "", "gold": "3"},
            {"completion": "\\boxed{3}", "gold": ""},
        ]
        code, out, err = self.grade(lines, "--grader", "math", "--pairs", "FILE", "--json")
        self.assertEqual(code, 3, err)  # the last line's gold is a fault
        self.assertIn("item 3", err)
        result = json.loads(out)
        self.assertEqual((result["n"], result["correct"]), (4, 1))
        self.assertEqual(
            result["outcomes"], {"correct": 1, "incorrect": 1, "no_answer": 1, "timeout": 0, "fault": 1}
        )
        self.assertEqual([row["item"] for row in result["items"]], ["0", "1", "2", "3"])
        self.assertEqual(
            [row["outcome"] for row in result["items"]], ["correct", "incorrect", "no_answer", "fault"]
        )
        self.assertEqual(result["items"][0]["extracted"], "\\frac12")
        code, out, _ = self.grade(lines[:2], "--grader", "math", "--pairs", "FILE")
        self.assertEqual((code, out.split()), (0, ["n", "2", "correct", "1", "incorrect", "1"]))

    def test_stop_strings_cut_first(self):
        lines = [{"completion": "#### 7\n\nQuestion: more\n#### 9", "gold": "7"}]
        _, out, _ = self.grade(lines, "--grader", "number", "--pairs", "FILE", "--json")
        self.assertEqual(json.loads(out)["correct"], 0)
        _, out, _ = self.grade(lines, "--grader", "number", "--pairs", "FILE", "--json", "--stop", "Question:")
        self.assertEqual(json.loads(out)["correct"], 1)

    def test_suite(self):
        lines = [
            {"item": "4", "completion": "#### 5\nQuestion\n#### 6"},
            {"item": 0, "completion": "#### 1"},
            {"item": "1", "completion": "#### 3"},
        ]
        suite = ("--suite", str(self.path / "sums.toml"), "--completions", "FILE", "--json")
        code, out, err = self.grade(lines, *suite)
        self.assertEqual(code, 0, err)
        result = json.loads(out)
        self.assertEqual([row["item"] for row in result["items"]], ["4", "0", "1"])
        self.assertEqual([row["outcome"] for row in result["items"]], ["correct", "correct", "incorrect"])
        _, out, _ = self.grade(lines, *suite, "--grader", "lmeval_strict")
        self.assertEqual(json.loads(out)["correct"], 2)
        _, out, _ = self.grade(lines, *suite, "--grader", "exact")
        self.assertEqual(json.loads(out)["correct"], 0)

    def test_bad_lines(self):
        pairs = ("--grader", "math", "--pairs", "FILE")
        good = {"completion": "\\boxed{1}", "gold": "1"}
        self.refused([good, "{"], *pairs, says=["lines.jsonl, line 2", "JSON"])
        self.refused([good, "[1]"], *pairs, says=["lines.jsonl, line 2", "not a JSON object"])
        self.refused([good, ""], *pairs, says=["lines.jsonl, line 2"])
        self.refused([{"completion": "1"}], *pairs, says=["line 1", '"gold"'])
        self.refused([{"completion": 1, "gold": "1"}], *pairs, says=["line 1", '"completion"', "number"])
        self.refused([{**good, "golden": "1"}], *pairs, says=["line 1", '"golden"'])
        self.refused([], *pairs, says=["no lines"])
        suite = ("--suite", str(self.path / "sums.toml"), "--completions", "FILE")
        self.refused([{"item": "5", "completion": "1"}], *suite, says=["line 1", '"5"'])
        self.refused([{"item": "1", "completion": "1"}] * 2, *suite, says=["line 2", "twice"])
        self.refused([{"completion": "1"}], *suite, says=["line 1", '"item"'])

    def test_wrong_use(self):
        self.refused([], says=["--pairs"], status=2)
        self.refused([], "--pairs", "FILE", says=["grader"], status=2)
        self.refused([], "--completions", "FILE", says=["suite"], status=2)
        self.refused([], "--pairs", "FILE", "--grader", "mth", says=["math"], status=2)
        self.refused([], "--pairs", "FILE", "--completions", "FILE", says=["one of"], status=2)
        self.refused([], "--pairs", "FILE", "--grader", "math", "--suite", "gsm8k", says=["--suite"], status=2)
        self.refused([], "--pairs", str(self.path / "none"), "--grader", "math", says=["none", "read"])


if __name__ == "__main__":
    unittest.main()
