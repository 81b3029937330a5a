"""The commands that a report ends with make the same runs again: the same keys, and the same answers.

Run: python3 reproduce_test.py PROGRAM

Runs of every kind of option (few items, other token limits, stop strings, sampling, chat with a system prompt,
markers of thoughts, bfloat16 keys and values, a suite of one's own) go into a store; the report's commands are run
as they stand, by bash in another folder, into another store.
"""
from __future__ import annotations

import os
import re
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
from tiny import checkpoints

PROGRAM = Path(sys.argv.pop(1)).resolve()
TEMPLATE = "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}{% endfor %}<|assistant|>"
SHAPE = checkpoints.Shape("own model's", width=36, inner=52, heads=2, groups=1, vocab=3100,
                          extra={"max_position_embeddings": 2048})
QUESTIONS = (
    ("--suite", "mini_gsm8k", "--setting", "standard,latent@2", "--limit", "2", "--max-new", "6"),
    ("--suite", "mini_choice", "--setting", "latent", "--limit", "3", "--shots", "1"),
    ("--suite", "mini_gsm8k", "--setting", "latent", "--limit", "1", "--max-new", "5", "--shots", "0", "--temperature",
     "0.7", "--top-k", "20", "--top-p", "0.95", "--seed", "18446744073709551615", "--samples", "2", "--stop", "\nIt's",
     "--stop", "a, \"b\" $c", "--think", "<a>,</a>", "--kv-dtype", "bf16"),
    ("--suite", "mini_gsm8k", "--setting", "standard", "--limit", "1", "--max-new", "4", "--format", "chat", "--system",
     "Don't\n`run` $(this) | that\\n"),
    ("--suite", "own.toml", "--setting", "standard"),
)


def rows(store: Path) -> list[tuple]:
    """(key of the run, item, sample, text, tokens, content) of all that a store has."""
    database = sqlite3.connect(store)
    try:
        return sorted(database.execute(
            "SELECT r.key, i.item, s.sample, s.text, s.tokens, s.content_sha256 FROM runs r JOIN items i ON i.run_id = r.id "
            "JOIN samples s ON s.item_id = i.id").fetchall())
    finally:
        database.close()


class Reproduce(unittest.TestCase):
    def run_it(self, *words, cwd: Path) -> str:
        done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_commands_make_the_same_runs(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            tiny.model(folder / "a model's", SHAPE, tokenizer="qwen_kind")
            tiny.edit_json(folder / "a model's" / "tokenizer_config.json",
                           lambda config: config.update(chat_template=TEMPLATE))
            tiny.suite(folder)
            for question in QUESTIONS:
                self.run_it(PROGRAM, "run", "--model", "a model's", *question, "--store", "first.db", "--quiet",
                            "--threads", "1", cwd=folder)
            report = self.run_it(PROGRAM, "report", "--store", "first.db", cwd=folder)
            commands = re.search(r"^```\n(.*?)\n```$", report, re.DOTALL | re.MULTILINE).group(1)
            lines = [line for line in commands.split("\n") if not line.startswith("# ")]
            self.assertEqual(len(lines), 6, commands)
            self.assertTrue(all(line.startswith("fullband run ") for line in lines), commands)
            # `fullband` is where a user's PATH has it.
            (folder / "bin").mkdir()
            (folder / "bin" / "fullband").symlink_to(PROGRAM)
            done = subprocess.run(["bash", "-e", "-c", commands], cwd=folder, capture_output=True, text=True, timeout=600,
                                  env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"})
            self.assertEqual(done.returncode, 0, done.stderr)
            first, again = rows(folder / "first.db"), rows(folder / "again.db")
            self.assertEqual(len(first), 2 + 2 + 3 + 2 + 1 + 2)
            self.assertEqual(again, first)


if __name__ == "__main__":
    unittest.main(verbosity=1)
