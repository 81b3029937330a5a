"""Prompts that are longer than a model's context. Whole shots go, oldest first, and their number is kept; of the suites
of long prompts, asked of a model whose context holds some of them, those that do not fit are faults that say so. No
prompt is ever cut.

Run: python3 long_test.py PROGRAM
"""
from __future__ import annotations

import json
import re
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
CONTEXT = 700  # positions: between what 256 and 512 words need
SUITES = {"long_needle": ("needle", "depth"), "long_state_tracking": ("state_tracking", "moves")}
ITEMS = 30
SHOTS, NEW = 5, 4


class Long(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.model = self.make_model("model", CONTEXT)

    def make_model(self, name: str, context: int) -> Path:
        shape = tiny.checkpoints.Shape("tiny", width=16, inner=24, layers=1, heads=2, groups=1, vocab=3100,
                                       extra={"max_position_embeddings": context})
        return tiny.model(self.folder / name, shape, "qwen_kind")

    def own_suite(self, name: str) -> Path:
        """The suite as it is shipped, over shorter items."""
        kind, _ = SUITES[name]
        data = self.folder / f"{name}.jsonl"
        subprocess.run([sys.executable, "-B", HOME / "scripts" / "make_long", kind, "--lengths", "128,256,512",
                        "--items", str(ITEMS), "--out", data], check=True, capture_output=True)
        toml = (HOME / "tasks" / f"{name}.toml").read_text(encoding="utf-8")
        toml = tiny.replaced(toml, f'"long/{kind}.jsonl"', f'"{data.name}"')
        toml = re.sub('sha256 = ".*"\n', "", toml)
        (self.folder / f"{name}.toml").write_text(toml, encoding="utf-8")
        return self.folder / f"{name}.toml"

    def run_it(self, *arguments: object, code: int = 0, text: str | None = None) -> subprocess.CompletedProcess:
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, input=text)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def tokens_of(self, prompts: list[str]) -> list[int]:
        done = self.run_it("tokenize", "--model", self.model, "--split-special",
                           text="".join(json.dumps(prompt) + "\n" for prompt in prompts))
        return [len(json.loads(line)["ids"]) for line in done.stdout.splitlines()]

    def ask(self, name: str):
        """Asks the suite; returns its samples as (item, groups, prompt, fault, prompt tokens)."""
        store = self.folder / f"{name}.db"
        done = self.run_it("run", "--model", self.model, "--suite", self.own_suite(name), "--setting",
                           "standard,latent@2", "--store", store, "--threads", 1, "--quiet", code=3)
        self.assertIn("some items could not be asked", done.stderr)
        self.run_it("report", "--store", store, "--out", self.folder / "report")
        database = sqlite3.connect(store)
        rows = database.execute("SELECT item, groups, prompt, fault, prompt_tokens FROM samples JOIN items "
                                "ON items.id = item_id ORDER BY run_id, position").fetchall()
        database.close()
        return rows

    def test_what_does_not_fit_is_a_fault_and_the_rest_is_whole(self):
        for name, (_, level) in SUITES.items():
            items = [json.loads(line) for line in self.own_suite(name).with_suffix(".jsonl").read_text().splitlines()]
            rows = self.ask(name)
            self.assertEqual(len(rows), 2 * ITEMS)
            fitting = 0
            for (_, groups, prompt, fault, run), count, item in zip(rows, self.tokens_of([row[2] for row in rows]),
                                                                    items + items):
                self.assertEqual(prompt, f"{item['context']}\n\nQuestion: {item['question']}\nAnswer: {item['stem']}")
                self.assertEqual(json.loads(groups), {"length": item["length"], level: item[level]})
                if count + 1 > CONTEXT:
                    self.assertIn("too long for the context", fault)
                    self.assertIn(f"{count} tokens, of {CONTEXT} possible", fault)
                else:
                    self.assertEqual((fault, run), ("", count))
                    fitting += 1
            self.assertIn(fitting, range(ITEMS // 3, 2 * ITEMS))
            report = (self.folder / "report" / "report.md").read_text(encoding="utf-8")
            self.assertIn(f"### Accuracy by length and {level}", report)
            self.assertRegex(report, r"\| 512 +\| all +\| +– \| +– \|\n")
            head, row = (re.search(pattern, report, re.MULTILINE).group().split("|")
                         for pattern in (r"^\| model .*faults.*", r"^\| model +\| standard .*"))
            self.assertEqual(int(row[[cell.strip() for cell in head].index("faults")]), ITEMS - fitting // 2)

    def prompts(self, model: Path, store: Path) -> list[tuple]:
        """(prompt, shots dropped) of mini_gsm8k's first items."""
        self.run_it("run", "--model", model, "--suite", "mini_gsm8k", "--setting", "standard", "--shots", SHOTS,
                    "--limit", ITEMS, "--max-new", NEW, "--store", store, "--threads", 1, "--quiet")
        database = sqlite3.connect(store)
        rows = database.execute("SELECT prompt, shots_dropped, fault FROM items JOIN samples ON items.id = item_id "
                                "ORDER BY position").fetchall()
        database.close()
        self.assertEqual({fault for *_, fault in rows}, {""})
        return [row[:2] for row in rows]

    def test_whole_shots_go_oldest_first_and_are_counted(self):
        whole = self.prompts(self.make_model("wide", 4096), self.folder / "wide.db")
        self.assertEqual({dropped for _, dropped in whole}, {0})
        # What is left of each prompt without its 0, 1, ... oldest shots.
        mark = "Question: "
        ends = [[mark + mark.join(prompt.split(mark)[1 + dropped:]) for dropped in range(SHOTS + 1)]
                for prompt, _ in whole]
        for (prompt, _), end in zip(whole, ends):
            self.assertEqual(prompt, end[0])
        counts = self.tokens_of([text for end in ends for text in end])
        counts = [counts[i:i + SHOTS + 1] for i in range(0, len(counts), SHOTS + 1)]
        context = sorted(count[2] for count in counts)[ITEMS // 2] + NEW  # half of the items have room for all but two
        expected = [next(i for i, count in enumerate(row) if count + NEW <= context) for row in counts]
        self.assertGreater(len(set(expected)), 1)
        asked = self.prompts(self.make_model("narrow", context), self.folder / "narrow.db")
        self.assertEqual(asked, [(end[dropped], dropped) for end, dropped in zip(ends, expected)])
        self.run_it("report", "--store", self.folder / "narrow.db", "--out", self.folder / "report")
        self.assertIn(f"items that lost shots to fit the context: {sum(map(bool, expected))}.",
                      (self.folder / "report" / "report.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=1)
