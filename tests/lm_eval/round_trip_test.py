"""The export in lm-evaluation-harness's layout, imported again: the same verdicts, item by item.

Run: python3 round_trip_test.py PROGRAM EXPORTER

The runs are of a shipped model on bundled suites that are generated and chosen, under two settings. That a spoilt
export is noticed is seen, too.
"""
from __future__ import annotations

import json
import math
import os
import sqlite3
import sys
import tempfile
import unittest
from pathlib import Path

import other_suites
from exported import Export, means, results_in, samples_in

VERDICTS = """SELECT r.suite, r.setting, i.item, s.sample, g.grader, g.outcome FROM runs r
JOIN items i ON i.run_id = r.id JOIN samples s ON s.item_id = i.id JOIN grades g ON g.sample_id = s.id
WHERE g.grader NOT LIKE 'imported%' ORDER BY 1, 2, 3, 4, 5"""


def verdicts(store: Path) -> list[tuple]:
    database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        return database.execute(VERDICTS).fetchall()
    finally:
        database.close()


class RoundTrip(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.made = Export(Path(temporary.name), *PROGRAMS)
        cls.made.ask("mini_gsm8k,mini_choice", "standard,latent@2", "--limit", "24")
        cls.made.ask("mini_gsm8k", "latent", "--limit", "6", "--samples", "3", "--temperature", "0.7")
        cls.files = cls.made.write()

    def test_layout(self):
        folders = {file.parent.name for file in self.files}
        self.assertEqual(folders, {"mini-fbt__standard", "mini-fbt__latent@2", "mini-fbt__latent"})
        for file in self.files:
            kind, _, rest = file.name.partition("_")
            self.assertIn(kind, ("results", "samples"))
            # As the harness's tools take a name apart.
            date = file.name[file.name.rfind("_") + 1:].replace(".jsonl", "").replace(".json", "")
            self.assertRegex(date, r"^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{6}$")
            if kind == "samples":
                self.assertIn(rest[:rest.rfind("_")], ("mini_gsm8k", "mini_choice"))
                self.assertTrue((file.parent / f"results_{date}.json").exists())

    def test_values_are_means_of_the_samples(self):
        compared = 0
        for results in results_in(self.files):
            for suite, values in results["results"].items():
                [file] = [file for file in self.files if file.name.startswith(f"samples_{suite}_") and
                          file.parent.name == results["model_name_sanitized"]]
                for key, scores in means(samples_in(file)).items():
                    self.assertAlmostEqual(values[key], sum(scores) / len(scores), delta=1e-12)
                    mean, n = sum(scores) / len(scores), len(scores)
                    error = math.sqrt(sum((x - mean) ** 2 for x in scores) / (n - 1)) / math.sqrt(n)
                    metric, _, name = key.partition(",")
                    self.assertAlmostEqual(values[f"{metric}_stderr,{name}"], error, delta=1e-12)
                    self.assertEqual(values["sample_len"], n)
                    compared += 1
        self.assertEqual(compared, 2 * (3 + 4) + 3)

    def test_contexts_last_words_and_parts(self):
        made = Export(self.made.folder / "others", *PROGRAMS)
        suites = other_suites.write(made.folder)
        # Of the suite of two files the first two items of each: rows 0, 1 and 6, 7 of its data.
        made.ask(",".join(map(str, suites.values())), "standard", "--limit", "4")
        files = {file.name.split("_")[1]: file for file in made.write() if file.name.startswith("samples_")}
        whom = samples_in(files["whom"])[0]
        shot, _, question = whom["doc"]["prompt"].rpartition("\n\n")
        self.assertIn("went home", shot)
        self.assertRegex(question, r"^Ann met \d men and Ann$")
        for i, who in enumerate(("Ann", "Bob")):
            context = whom["doc"]["prompt"].removesuffix("Ann") + who
            self.assertEqual(whom["arguments"][f"gen_args_{i}"], {"arg_0": context, "arg_1": ""})
        last = samples_in(files["last"])
        self.assertEqual(last[0]["arguments"]["gen_args_0"], {"arg_0": "One, two, three, 0 and", "arg_1": " four"})
        [results] = results_in(list(made.folder.glob("export/*/results_*.json")))
        logprobs = [float(line["resps"][0][0][0]) for line in last]
        self.assertEqual([line["perplexity"] for line in last], logprobs)
        self.assertAlmostEqual(results["results"]["last"]["perplexity,none"], math.exp(-sum(logprobs) / len(logprobs)))
        self.assertEqual(results["higher_is_better"]["last"], {"acc": True, "perplexity": False})
        subjects = [line["doc"]["subject"] for line in samples_in(files["subjects"])]
        self.assertEqual(subjects, ["colours"] * 2 + ["sums"] * 2)
        store = made.folder / "again.db"
        for name, file in files.items():
            made.run("import", "--store", str(store), "--suite", str(suites[name]), "--model-name", "again",
                     "--setting", "standard", "--partial", "--quiet", str(file))
        self.assertEqual(len(verdicts(made.store)), 3 * 4)
        self.assertEqual(verdicts(store), verdicts(made.store))

    def imported(self, files: list[Path], store: Path) -> None:
        for file in files:
            suite = file.name[len("samples_"):file.name.rfind("_")]
            setting = file.parent.name.partition("__")[2]
            more = ["--temperature", "0.7"] if setting == "latent" else []
            self.made.run("import", "--store", str(store), "--suite", suite, "--model-name", "again",
                          "--setting", setting, "--partial", "--quiet", *more, str(file))

    def test_imported_again_it_is_the_same(self):
        samples = [file for file in self.files if file.name.startswith("samples_")]
        store = self.made.folder / "again.db"
        self.imported(samples, store)
        # Without tokens choices have no lengths in tokens, which one metric needs.
        ours = [row for row in verdicts(self.made.store) if row[4] != "acc_norm_tokens"]
        theirs = [row for row in verdicts(store) if row[4] != "acc_norm_tokens"]
        self.assertEqual(len(ours), 2 * 24 * 3 + 2 * 24 * 3 + 6 * 3 * 3)
        self.assertEqual(theirs, ours)
        # The verdicts that came along are those that were made again.
        database = sqlite3.connect(store)
        [(differing,)] = database.execute("""SELECT count(*) FROM grades a JOIN grades b USING (sample_id)
            WHERE a.grader = 'imported:exact_match/strict-match' AND b.grader = 'lmeval_strict'
            AND (a.outcome = 'correct') != (b.outcome = 'correct')""").fetchall()
        [(compared,)] = database.execute(
            "SELECT count(*) FROM grades WHERE grader = 'imported:exact_match/strict-match'").fetchall()
        database.close()
        self.assertEqual((differing, compared), (0, 48))

    def spoilt(self, change, suite: str = "mini_gsm8k") -> Path:
        """An export of which `change` altered the first sample."""
        [file] = [file for file in self.files if file.name.startswith(f"samples_{suite}_") and
                  file.parent.name == "mini-fbt__standard"]
        lines = samples_in(file)
        change(lines)
        folder = self.made.folder / self.id().rpartition(".")[2] / file.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file.name).write_text("".join(json.dumps(line) + "\n" for line in lines))
        return folder / file.name

    def test_a_spoilt_export_is_noticed(self):
        def other_text(lines):
            for line in lines[:2 * 3]:
                line["resps"] = [["none"]]
        store = self.made.folder / "spoilt.db"
        self.imported([self.spoilt(other_text)], store)
        mine = [row for row in verdicts(self.made.store) if row[:2] == ("mini_gsm8k", "standard")]
        self.assertNotEqual(verdicts(store), mine)

        def other_item(lines):
            for line in lines:
                line["doc"]["item"] = "nowhere"
        with self.assertRaisesRegex(RuntimeError, "line 1.*no item \"nowhere\""):
            self.imported([self.spoilt(other_item)], self.made.folder / "never.db")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    PROGRAMS = [os.path.abspath(sys.argv.pop(1)) for _ in range(2)]
    unittest.main(verbosity=2)
