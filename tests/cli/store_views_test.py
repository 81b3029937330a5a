"""The store's views: the examples of docs/store.md give what stands below them.

Run: python3 store_views_test.py PROGRAM
     python3 store_views_test.py PROGRAM --write    puts the answers into docs/store.md

The example for pandas runs where the peers' Python has it ($FULLBAND_PEERS_PYTHON, else .venv-peers).
"""
from __future__ import annotations

import os
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FULLBAND = os.path.abspath(sys.argv.pop(1))
HOME = Path(__file__).resolve().parents[2]
DOCUMENT = HOME / "docs" / "store.md"
PANDAS_PYTHON = Path(os.environ.get("FULLBAND_PEERS_PYTHON", HOME / ".venv-peers/bin/python3"))
# A block of code, and the one with its answer behind it, where there is one.
EXAMPLE = re.compile(r"```(sql|python)\n(.*?)```\n(?:```text\n(.*?)```\n)?", re.DOTALL)


def make_store(folder: Path) -> Path:
    """What the document's first block of commands makes."""
    commands = re.search(r"```\n(fullband run.*?)```", DOCUMENT.read_text(), re.DOTALL).group(1)
    for line in commands.splitlines():
        words = [str(folder / word) if word.endswith(".db") else word for word in shlex.split(line)]
        words = [str(HOME / word) if word.startswith("models/") else word for word in words]
        subprocess.run([FULLBAND, *words[1:], "--quiet"], check=True, capture_output=True, timeout=600)
    return folder / "runs.db"


def shown(value) -> str:
    return "" if value is None else str(value).replace("\n", "\\n")


def table(cursor: sqlite3.Cursor) -> str:
    """As sqlite3 -header -column prints it, without the spaces at the ends of lines."""
    lines = [[column[0] for column in cursor.description]]
    lines += [[shown(value) for value in row] for row in cursor]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() + "\n" for line in lines)


def has_pandas() -> bool:
    try:
        return subprocess.run([PANDAS_PYTHON, "-c", "import pandas"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def answer(language: str, code: str, store: Path) -> str | None:
    """What an example prints; nothing where this machine has not what it takes."""
    if language == "sql":
        database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        try:
            return table(database.execute(code))
        finally:
            database.close()
    if not has_pandas():
        return None
    done = subprocess.run([PANDAS_PYTHON, "-"], input=code, cwd=store.parent, capture_output=True, text=True,
                          check=True)
    return "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())


def write() -> None:
    """Puts the answers below the examples."""
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(Path(folder))

        def answered(match: re.Match) -> str:
            text = answer(match[1], match[2], store)
            return f"```{match[1]}\n{match[2]}```\n```text\n{match[3] if text is None else text}```\n"

        DOCUMENT.write_text(EXAMPLE.sub(answered, DOCUMENT.read_text()))


class StoreViews(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.store = make_store(Path(folder.name))

    def test_the_examples_say_what_stands_below_them(self):
        examples = EXAMPLE.findall(DOCUMENT.read_text())
        self.assertGreater(len(examples), 5)
        for language, code, expected in examples:
            with self.subTest(code.strip().splitlines()[0]):
                text = answer(language, code, self.store)
                if text is None:
                    print(f"{PANDAS_PYTHON} has no pandas (scripts/setup --peers installs it): its example is left out")
                    continue
                self.assertNotIn(len(text.splitlines()), (0, 2), "the example finds nothing")
                self.assertEqual(text, expected)

    def test_the_document_names_every_view_and_no_other(self):
        database = sqlite3.connect(self.store)
        views = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'")}
        database.close()
        section = DOCUMENT.read_text().split("## Views")[1].split("\n\n")[0]
        self.assertEqual(set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)), views)


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    else:
        unittest.main()
