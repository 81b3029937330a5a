"""`fullband import`: samples of other engines, from lines of our own layout and from lm-evaluation-harness.

Run: python3 import_test.py PROGRAM
"""

import json
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FULLBAND = sys.argv.pop(1)
HOME = Path(__file__).resolve().parents[2]
PEERS = HOME / "tests" / "data" / "peers"

SUMS = (
    'name = "sums"\nversion = 1\ntitle = "sums"\nask = "generate"\nreader = "gsm8k_jsonl"\n'
    'graders = ["number", "exact"]\n[data]\npath = "data.jsonl"\norigin = "the test"\n'
    '[shots]\ndefault = 2\n[completion]\nquestion = "{question}"\nanswer = " {answer}"\n'
    'separator = "\\n"\nstop = ["\\nQ"]\n[chat]\nquestion = "{question}"\nanswer = "{answer}"\n'
    '[generate]\nmax_new_tokens = 9\ngold = "{final}"\n'
)


def answer(n, right=True, **more):
    """A line for item n, whose answer is n + 1."""
    return {"item": n, "completion": f" So\n#### {n + 1 if right else n}", **more}


class ImportTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.store = self.path / "s.db"
        # A suite of gsm8k's format with five items of its own.
        rows = [{"question": f"What is {n} + 1?", "answer": f"It is {n + 1}.\n#### {n + 1}"} for n in range(5)]
        (self.path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (self.path / "sums.toml").write_text(SUMS)

    def tearDown(self):
        self.folder.cleanup()

    def run_program(self, *words):
        done = subprocess.run([FULLBAND, *words], capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout, done.stderr

    def file_of(self, lines, name="lines.jsonl"):
        """A file of `lines` (objects, or text as it is)."""
        file = self.path / name
        file.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        return file

    def load(self, lines, *words, suite=None, setting="standard", model="other"):
        """Imports lines, or a file; returns (exit status, stdout, stderr)."""
        file = lines if isinstance(lines, Path) else self.file_of(lines)
        return self.run_program("import", "--quiet", "--store", str(self.store), "--suite",
                                suite or str(self.path / "sums.toml"), "--model-name", model, "--setting", setting,
                                *words, str(file))

    def loaded(self, lines, *words, code=0, **options):
        got, out, err = self.load(lines, *words, **options)
        self.assertEqual(got, code, err)
        return out, err

    def refused(self, lines, *words, says, status=1, **options):
        """One line on stderr with all the words, and nothing in the store."""
        before = self.content()
        code, out, err = self.load(lines, *words, **options)
        self.assertEqual((code, out), (status, ""), err)
        self.assertEqual(err.count("\n"), 1, err)
        for word in says:
            self.assertIn(word, err)
        self.assertEqual(self.content(), before)

    def query(self, statement):
        database = sqlite3.connect(self.store)
        try:
            return database.execute(statement).fetchall()
        finally:
            database.close()

    def content(self):
        """All rows, or None where there is no store."""
        if not self.store.exists():
            return None
        tables = [name for name, in self.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
        return {table: self.query(f"SELECT * FROM {table}") for table in tables}

    def grades(self, grader):
        return [outcome for outcome, in self.query(
            "SELECT g.outcome FROM grades g JOIN samples s ON s.id = g.sample_id JOIN items i ON i.id = s.item_id "
            f"WHERE g.grader = '{grader}' ORDER BY i.run_id, i.position, s.sample")]

    def report(self):
        code, out, err = self.run_program("report", "--store", str(self.store))
        self.assertEqual((code, err), (0, ""))
        return out

    def key(self):
        return self.query("SELECT key FROM runs ORDER BY id DESC")[0][0]

    def show(self, item, key=None, *words):
        code, out, err = self.run_program("show", "--store", str(self.store), "--run", key or self.key(), "--item",
                                          item, *words)
        self.assertEqual((code, err), (0, ""))
        return out

    # --- What is imported.

    def test_texts_are_graded_as_ours(self):
        lines = [answer(n, n != 3) for n in (4, 0, 1, 3)] + [{"item": "2", "completion": "#### 3\nQ: more\n#### 9"}]
        out, err = self.loaded(lines)
        self.assertEqual(err, "")
        self.assertIn("sums, other under standard: 5 items, 5 samples", out)
        self.assertIn("number: 4/5 correct", out)
        self.assertEqual(self.grades("number"), ["correct", "correct", "correct", "incorrect", "correct"])
        self.assertEqual(self.query("SELECT text FROM samples ORDER BY id")[4], ("#### 3",))  # up to the stop string
        report = self.report()
        self.assertIn("| other (imported) | standard | completion, 2 shots |     5 |   80.0 % |", report)
        for words in ("imported (file ", "its trace lengths are not known", "truncated is not known"):
            self.assertIn(words, report)
        for title in ("### Trace length", "### Cost"):
            self.assertNotIn(title, report)
        self.assertEqual(self.query("SELECT lease_token FROM runs"), [(None,)])

    def test_verdicts_of_its_own_stand_beside_ours(self):
        lines = [answer(n, n != 3, verdict=verdict) for n, verdict in
                 enumerate(["correct", "incorrect", False, True, "no_answer"])]
        self.loaded(lines)
        self.assertEqual(self.grades("number"), ["correct", "correct", "correct", "incorrect", "correct"])
        self.assertEqual(self.grades("imported"), ["correct", "incorrect", "incorrect", "correct", "no_answer"])
        self.assertIn("imported differs from number on 4 of 5 samples (1 right by it alone, 3 by number alone), "
                      "e.g. items 1, 2, 3, 4.", self.report())
        shown = self.show("3")
        for words in ("number: incorrect", "imported: correct", "other, imported", "#### 3", "without what was asked"):
            self.assertIn(words, shown)
        self.assertIs(json.loads(self.show("3", None, "--json"))["runs"][0]["imported"], True)

    def test_verdicts_alone(self):
        lines = [{"item": n, "verdict": n < 2, "trace_tokens": 10 + n, "stop_reason": "length" if n == 4 else "end"}
                 for n in range(5)]
        out, _ = self.loaded(lines)
        self.assertIn("imported: 2/5 correct", out)
        self.assertEqual(self.query("SELECT DISTINCT grader FROM grades"), [("imported",)])
        report = self.report()
        self.assertIn("By imported; correct", report)
        self.assertIn("its verdicts are the other engine's own", report)
        row = [line for line in report.split("### Trace length")[1].splitlines() if "other" in line][0]
        self.assertEqual([cell.strip() for cell in row.split("|")[4:12]],
                         ["12.0", "12.0", "13.6", "11.5", "10.5", "13.0", "14.0", "1"])
        self.assertIn("(imported without text)", self.show("0"))
        # Nothing can be graded, and an empty text is not taken for an answer.
        before = self.content()
        code, out, err = self.run_program("regrade", "--store", str(self.store), "--suite", "sums")
        self.assertIn("verdicts alone", err)
        self.assertEqual((code, self.content()), (0, before))
        code, out, err = self.run_program("regrade", "--store", str(self.store), "--suite", "sums", "--run", self.key())
        self.assertEqual((code, err.count("\n")), (2, 1))
        self.assertIn("nothing to grade", err)

    def test_regrade(self):
        self.loaded([answer(n, verdict=False) for n in range(5)], "--no-grade")
        self.assertEqual(self.grades("number"), [])
        # The suite's file is not found by its name; the run holds its definition.
        code, _, err = self.run_program("regrade", "--quiet", "--store", str(self.store), "--suite", "sums")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(self.grades("number"), ["correct"] * 5)
        self.assertEqual(self.grades("imported"), ["incorrect"] * 5)

    def test_faults_and_several_samples(self):
        lines = [answer(n, n == sample, sample=sample) for n in range(5) for sample in range(2)]
        lines[5] = {"item": 2, "sample": 1, "fault": "out of memory"}
        out, err = self.loaded(lines, "--temperature", "0.7", code=3)
        self.assertIn("5 items, 10 samples (1 faults)", out)
        self.assertEqual(self.query("SELECT fault FROM samples WHERE fault <> ''"), [("out of memory",)])
        report = self.report()
        for words in ("T 0.7, 2 samples", "pass@2"):
            self.assertIn(words, report)

    def test_settings_compared(self):
        """Imported runs of one name are paired; those of another name, and labels of other engines, stand apart."""
        for setting, rights in (("standard", 1), ("latent@2", 4), ("other:beam 4", 2)):
            self.loaded([answer(n, n < rights) for n in range(5)], setting=setting)
        self.loaded([answer(n) for n in range(5)], setting="latent", model="another")
        report = self.report()
        pairs = report.split("### Settings compared")[1].split("\n## ")[0].split("\n### ")[0]
        # The first row of each pair has the p-value of Holm for three tests, the second McNemar's before it.
        for a, b, p, adjusted in (("standard", "latent@2", "0.250", "0.750"),
                                  ("standard", "other:beam 4", "1.000", "1.000"),
                                  ("latent@2", "other:beam 4", "0.500", "1.000")):
            rows = [line for line in pairs.splitlines() if f"| {a} " in line and f"| {b} " in line]
            self.assertIn(f" {adjusted} |", rows[0])
            self.assertRegex(rows[1], f" {p} \\| +{adjusted} \\|")
        self.assertIn("other (imported): that the weights are the same rests on the name alone", pairs)
        self.assertNotIn("another", pairs)
        self.assertNotIn("\\*", pairs)
        self.assertNotIn("identical traces", pairs)

    def test_the_same_file_again(self):
        lines = [answer(n) for n in range(5)]
        self.loaded(lines)
        before = self.content()
        out, err = self.loaded(lines)
        self.assertIn("there already, nothing was added", out)
        self.assertEqual((self.content(), err), (before, ""))
        # Another file is another run, under whatever name.
        out, err = self.loaded([answer(n, False) for n in range(5)])
        self.assertIn("another run of other under standard", err)
        self.assertEqual(self.query("SELECT COUNT(*) FROM runs"), [(2,)])
        self.assertEqual(self.query("SELECT COUNT(*) FROM models"), [(1,)])

    def test_what_an_earlier_import_left_ungraded(self):
        lines = [answer(n) for n in range(5)]
        self.loaded(lines, "--no-grade")
        out, _ = self.loaded(lines)
        self.assertIn("number: 5/5 correct", out)

    def test_missing_items(self):
        lines = [answer(n) for n in (0, 3)]
        self.refused(lines, says=["lines.jsonl", "lacks 3 of the 5 items of sums: 1, 2, 4", "--partial"])
        _, err = self.loaded(lines, "--partial")
        self.assertIn("3 of the suite's 5 items are not in", err)
        self.assertIn("asked 2 of the suite's 5 items", self.report())

    def test_choices(self):
        data = HOME / "tasks" / "mini" / "mini_choice.jsonl"
        items = [json.loads(line) for line in data.read_text().splitlines()[:4]]
        lines = [{"item": n, "logprobs": [-1.0 if i == item["gold"] else -2.0 for i in range(4)]}
                 for n, item in enumerate(items)]
        lines[1]["logprobs"] = [-1.0 if i != items[1]["gold"] else -2.0 for i in range(4)]
        out, err = self.loaded(lines, "--partial", suite="mini_choice")
        self.assertIn("acc: 3/4 correct", out)
        self.assertEqual(self.grades("acc_norm_tokens"), [])  # their numbers of tokens are not known
        code, _, err = self.run_program("regrade", "--quiet", "--store", str(self.store), "--suite", "mini_choice")
        self.assertEqual((code, err), (0, ""))
        for line in lines:
            line["choice_tokens"] = [2, 2, 2, 2]
        self.loaded(lines, "--partial", suite="mini_choice")
        self.assertEqual(self.grades("acc_norm_tokens"), ["correct", "incorrect", "correct", "correct"])
        chosen = [{"item": n, "chosen": item["gold"] if n < 2 else (item["gold"] + 1) % 4}
                  for n, item in enumerate(items)]
        out, _ = self.loaded(chosen, "--partial", suite="mini_choice")
        self.assertIn("imported: 2/4 correct", out)
        self.assertIn(items[0]["choices"][items[0]["gold"]],
                      [text for text, in self.query("SELECT extracted FROM grades WHERE grader = 'imported'")])

    def test_run_never_goes_on_with_it(self):
        """A run of ours in the same store, of the same name and setting, is another run of another model."""
        model = HOME / "models" / "mini-standard"
        self.loaded([{"item": n, "completion": "#### 1"} for n in range(2)], "--partial", suite="mini_gsm8k",
                    model="mini-standard")
        imported = self.key()
        code, _, err = self.run_program("run", "--quiet", "--model", str(model), "--suite", "mini_gsm8k", "--setting",
                                        "standard", "--limit", "2", "--max-new", "4", "--store", str(self.store))
        self.assertEqual(code, 0, err)
        self.assertEqual(self.query("SELECT COUNT(DISTINCT model_id), COUNT(*) FROM runs"), [(2, 2)])
        self.assertEqual(self.query("SELECT COUNT(*) FROM items i JOIN runs r ON r.id = i.run_id "
                                    f"WHERE r.key = '{imported}'"), [(2,)])
        self.assertNotIn("### Settings compared", self.report())
        shown = self.run_program("show", "--store", str(self.store), "--run", f"{imported},{self.key()}", "--item", "0")
        self.assertEqual(shown[0], 0, shown[2])
        self.assertIn("imported without what was asked", shown[1])

    def test_tokens_with_a_tokenizer(self):
        model = HOME / "models" / "mini-standard"

        done = subprocess.run([FULLBAND, "tokenize", "--model", str(model), "--no-special"], check=True, text=True,
                              input='"It is 2. The answer is 1."', capture_output=True)
        tokens = json.loads(done.stdout)["ids"]
        lines = [{"item": n, "tokens": tokens + [0], "stop_reason": "end"} for n in range(5)]
        self.refused(lines, says=["token ids without their text", "--tokenizer"])
        self.loaded(lines, "--tokenizer", str(model))
        self.assertEqual(self.query("SELECT DISTINCT trim(text), generated_tokens, trace_tokens FROM samples"),
                         [("It is 2. The answer is 1.", len(tokens) + 1, len(tokens))])
        self.assertEqual(self.grades("number"), ["correct"] + ["incorrect"] * 4)
        self.assertIn("### Trace length", self.report())
        lines[2]["tokens"][0] = 1_000_000
        self.refused(lines, "--tokenizer", str(model), says=["line 3", "1000000", "the tokenizer has"])
        lines = [answer(n, tokens=tokens) for n in range(5)]
        self.refused(lines, "--tokenizer", str(model), says=["line 1", "do not spell"])
        self.refused([answer(n) for n in range(5)], "--tokenizer", str(model), says=["--tokenizer", 'no "tokens"'],
                     status=2)

    # --- lm-evaluation-harness's files.

    def test_lm_eval_generate(self):
        out, err = self.loaded(PEERS / "lm_eval_samples_gsm8k.jsonl", "--partial", suite="mini_gsm8k")
        self.assertIn("12 items, 12 samples", out)
        # Its verdicts by filter are those of the graders that mirror them, and not all the same.
        for grader, filter_name in (("lmeval_strict", "strict-match"), ("lmeval_flexible", "flexible-extract")):
            theirs = self.grades(f"imported:exact_match/{filter_name}")
            self.assertEqual(len(theirs), 12)
            self.assertEqual([outcome == "correct" for outcome in self.grades(grader)],
                             [outcome == "correct" for outcome in theirs])
        self.assertEqual(self.grades("lmeval_strict").count("correct"), 4)
        self.assertEqual(self.grades("lmeval_flexible").count("correct"), 8)
        report = self.report()
        self.assertIn("imported:exact_match/strict-match differs from number on 4 of 12 samples", report)
        self.assertIn("imported:exact_match/flexible-extract and number agree on all 12 samples", report)
        self.assertIn("A ferry starts with 20 passengers", self.show("0"))  # what was asked came with it

    def test_lm_eval_choose(self):
        self.loaded(PEERS / "lm_eval_samples_choice.jsonl", "--partial", suite="mini_choice")
        for metric in ("acc", "acc_norm"):
            theirs = self.grades(f"imported:{metric}")
            self.assertEqual(len(theirs), 12)
            self.assertEqual(self.grades(metric), theirs)
        self.assertNotEqual(self.grades("acc"), self.grades("acc_norm"))

    def test_lm_eval_of_other_data(self):
        lines = (PEERS / "lm_eval_samples_gsm8k.jsonl").read_text().splitlines()
        swapped = [json.loads(line) for line in lines[:12]]
        swapped[3]["doc_id"], swapped[4]["doc_id"] = 4, 3
        mini = {"suite": "mini_gsm8k"}
        self.refused(swapped, "--partial", says=["line 4", '"doc"', 'item "4"', "name the suite"], **mini)
        self.refused([{**json.loads(lines[0]), "doc_id": 500}], says=["line 1", '"doc_id" is 500', "500 items"], **mini)
        self.refused(lines[:1] * 2, "--partial", says=["line 2", "repeats line 1"], **mini)
        self.refused([lines[0], {**json.loads(lines[0]), "filter": "other", "resps": [["x"]]}], "--partial",
                     says=["line 2", "otherwise than line 1"], **mini)
        self.refused(lines[:14], "--partial", says=["no verdict", "is the file complete"], **mini)
        self.refused([{**json.loads(lines[0]), "resps": ["x"]}], "--partial", says=["line 1", '"resps"'], **mini)
        self.refused(lines, says=["line 1", '"doc"', "suite sums", "name the suite"])
        choices = [json.loads(line) for line in (PEERS / "lm_eval_samples_choice.jsonl").read_text().splitlines()]
        choices[1]["arguments"]["gen_args_2"]["arg_1"] = " 77"
        self.refused(choices, "--partial", suite="mini_choice", says=["line 2", "choice 2", '" 77"'])
        choices[0]["resps"][1] = [["many", "False"]]
        self.refused(choices, "--partial", suite="mini_choice", says=["line 1", "choice 1", "many"])

    # --- What is refused.

    def test_bad_lines(self):
        good = [answer(n) for n in range(4)]

        def refused(line, *says):
            self.refused([*good, line], says=["lines.jsonl, line 5", *says])

        refused("{", "JSON")
        refused("[1]", "not a JSON object")
        refused("", "JSON")
        refused('{"item": 4, "completion": "\\udfff"}', "JSON")  # half a character
        refused({"completion": "x"}, '"item"')
        refused({"item": 5, "completion": "x"}, 'no item "5"', "ids are as in its data")
        refused({"item": 4.5, "completion": "x"}, '"item"', "number")
        refused(answer(3), 'the item "3" stands twice', '"sample"')
        refused({"item": 4, "completion": 7}, '"completion"', "number, not a string")
        refused({"item": 4, "complletion": "x"}, '"complletion"', "completion")
        refused({"item": 4, "logprobs": [1]}, '"logprobs"', "completed")
        refused(answer(4, verdict="right"), '"verdict" is "right"', "correct, incorrect")
        refused(answer(4, stop_reason="eos"), '"stop_reason"', "stop_string")
        refused(answer(4, tokens=[1, -2]), '"tokens" holds -2')
        refused(answer(4, tokens=[1, 2**40]), '"tokens"')
        refused(answer(4, tokens=[1], generated_tokens=2), '"generated_tokens" is 2')
        refused(answer(4, generated_tokens=2, trace_tokens=3), '"trace_tokens" is 3, more than the 2')
        refused(answer(4, trace_tokens=-1), '"trace_tokens"')
        refused(answer(4, seconds=-1), '"seconds"')
        refused(answer(4, sample=-1), '"sample"')
        refused(answer(4, seconds=3), 'has "seconds", which line 1 has not')
        refused({"item": 4, "verdict": True}, 'no "completion", as line 1 has')
        self.refused([{"item": 0}], says=["line 1", "no answer and no verdict"])
        self.refused([{"item": 0, "fault": "lost"}], says=["faults alone"])
        self.refused([], says=["no lines"])
        self.refused(self.path / "none.jsonl", says=["none.jsonl", "read"])
        choice = {"item": 0, "logprobs": [-1, -2, -3, -4]}
        for change, says in (
            ({"logprobs": [-1]}, "1 entries, and the item has 4"),
            ({"logprobs": [-1, -2, -3, "x"]}, '"logprobs" holds "x"'),
            ({"completion": "x"}, "chosen among"),
            ({"choice_tokens": [1, 1, 1, 0]}, '"choice_tokens" holds 0'),
            ({"greedy": [1, 0, 0, 0]}, '"greedy" holds 1'),
            ({"chosen": 4}, '"chosen" is 4'),
            ({"chosen": 1, "verdict": True}, "both"),
        ):
            self.refused([{**choice, **change}], "--partial", suite="mini_choice", says=["line 1", says])

    def test_wrong_use(self):
        good = [answer(n) for n in range(5)]
        self.refused(good, setting="latnet", says=["latnet", "latent", "other:NAME"], status=2)
        self.refused(good, setting="soft", says=["soft", "other:NAME"], status=2)
        self.refused(good, setting="other:", says=["is empty"], status=2)
        self.refused(good, model="", says=["--model-name"], status=2)
        self.refused(good, model="a\nb", says=["--model-name", "control"], status=2)
        self.refused(good, suite="smus", says=["smus"], status=2)
        self.refused(good, "--format", "chatt", says=["chatt"], status=2)
        self.refused(good, "--temperature", "-1", says=["--temperature"], status=2)
        self.refused(good, "--tokenizer", str(self.path), says=["--tokenizer", "tokenizer.json"], status=2)

    def test_a_failure_while_it_is_stored_leaves_nothing(self):
        self.loaded([answer(n) for n in range(5)])
        before = self.content()
        database = sqlite3.connect(self.store)
        database.execute("CREATE TRIGGER broken BEFORE INSERT ON samples WHEN NEW.text LIKE '%#### 4%' "
                         "BEGIN SELECT RAISE(ABORT, 'planted'); END")
        database.commit()
        database.close()
        code, _, err = self.load([answer(n, True, seconds=1) for n in range(5)])
        self.assertEqual((code, err.count("\n")), (1, 1), err)
        self.assertIn("planted", err)
        self.assertEqual(self.content(), before)


if __name__ == "__main__":
    unittest.main()
