"""Broken inputs of the program: each gives one clear line, the right exit code, no crash, nothing half-written.

Run: python3 bad_input_test.py PROGRAM [WORD]     WORD: only the rows whose name has it

The rows are in broken_models.py, broken_suites.py, broken_lines.py and broken_sweeps.py. The program may be built with
sanitizers: their reports are failures too.
"""
from __future__ import annotations

import concurrent.futures
import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

try:
    import numpy  # noqa: F401
except ImportError:
    print("NumPy is missing (run scripts/setup); skipped")
    sys.exit(77)

import broken_lines
import broken_models
import broken_suites
import broken_sweeps
import tiny
from rows import Place, Row, Skip

ROWS = broken_models.ROWS + broken_suites.ROWS + broken_lines.ROWS + broken_sweeps.ROWS
TIMEOUT = 120
LONGEST_LINE = 1200  # with room for three long paths
SANITIZER_EXIT_CODE = 86  # none of the program's own


@dataclass(frozen=True)
class Outcome:
    code: int  # negative: the signal that ended the program
    stdout: bytes
    stderr: bytes
    left: tuple[str, ...] = ()  # what is wrong with the files that were left


def environment(folder: Path) -> dict[str, str]:
    kept = {key: os.environ[key] for key in ("PATH", "FULLBAND_HOME", "FULLBAND_PYTHON") if key in os.environ}
    sanitizer = f"exitcode={SANITIZER_EXIT_CODE}"
    return kept | {"HOME": str(folder), "LC_ALL": "C", "ASAN_OPTIONS": sanitizer, "LSAN_OPTIONS": sanitizer,
                   "UBSAN_OPTIONS": "print_stacktrace=1"}


def wrong_store(path: Path) -> list[str]:
    """A store is whole or absent. Where the disk is full, its log stays beside it and is part of it."""
    wrong = []
    with tempfile.TemporaryDirectory() as temporary:  # opening a store may change it
        copy = Path(temporary) / path.name
        for end in ("", "-wal"):
            if Path(str(path) + end).exists():
                shutil.copy(str(path) + end, str(copy) + end)
        return wrong + wrong_database(copy)


def wrong_database(path: Path) -> list[str]:
    wrong = []
    database = sqlite3.connect(path)
    try:
        verdict = database.execute("PRAGMA integrity_check").fetchone()[0]
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if verdict != "ok":
            wrong.append(f"the store left is not whole: {verdict}")
        elif tables and not {"runs", "items", "samples", "choices", "grades"} <= tables:
            wrong.append(f"the store left has only the tables {sorted(tables)}")
        elif tables and database.execute("SELECT COUNT(*) FROM samples WHERE content_sha256 = ''").fetchone()[0]:
            wrong.append("the store left has an unfinished sample")
    except sqlite3.Error as error:
        wrong.append(f"the store left cannot be read: {error}")
    finally:
        database.close()
    return wrong


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def wrong_files(before: dict[Path, bytes], place: Place) -> list[str]:
    """What was there is untouched, or a store that was and is whole; what is new is a whole store."""
    wrong = []
    after = snapshot(place.folder)
    for path in before.keys() | after.keys():
        if before.get(path) == after.get(path) or path.name.endswith(("-wal", "-shm", "-journal")):
            continue
        if path.name != "a.db":
            wrong.append(f"{path.name} was {'changed' if path in before else 'left'}")
    for path in {path for path in after if path.name == "a.db" and before.get(path) != after[path]}:
        wrong += wrong_store(path)
    return wrong


def wrong_log(place: Place) -> list[str]:
    """A process that ends as it should leaves no log, unless the disk is full."""
    return [f"{path.name} was left" for path in place.folder.glob("a.db-*")]


def run(program: str, row: Row, folder: Path, good: Path, ordinary: Path) -> Outcome:
    with contextlib.ExitStack() as cleanup:
        place = Place(folder, good, ordinary, program, cleanup)
        words = row.make(place)
        before = snapshot(folder)
        done = subprocess.run([program, *words], input=place.stdin, capture_output=True, timeout=TIMEOUT,
                              env=environment(good.parent), cwd=folder)
        return Outcome(done.returncode, done.stdout, done.stderr, tuple(wrong_files(before, place) + wrong_log(place)))


def check(row: Row, outcome: Outcome) -> list[str]:
    """What is wrong with how the program ended; empty where nothing is."""
    wrong = list(outcome.left)
    if outcome.code < 0:
        wrong.append(f"ended by signal {-outcome.code}")
    elif outcome.code != row.code:
        wrong.append(f"exit code {outcome.code}, expected {row.code}")
    err = outcome.stderr.decode(errors="backslashreplace")
    if row.code == 0:
        return wrong + ([f"standard error has {err[:500]!r}"] if err else [])
    for word in ("Sanitizer", "runtime error", "internal error", "terminate called"):
        if word in err:
            wrong.append(f"standard error tells of a {word}: {err[:3000]}")
    if not err.startswith("fullband: ") or err.count("\n") != 1 or not err.endswith("\n"):
        wrong.append(f"standard error is not one line: {err[:500]!r}")
    if len(err) > LONGEST_LINE:
        wrong.append(f"the line has {len(err)} characters")
    if any(ord(c) < 32 and c != "\n" for c in err):
        wrong.append("the line has control characters")
    wrong += [f"the line does not have {word!r}: {err[:500]!r}" for word in row.words if word not in err]
    if not row.words:
        wrong.append("the row expects no words")
    lines_answered = row in broken_suites.STDIN_ROWS  # earlier lines are answered before a bad one is met
    if outcome.stdout and not lines_answered:
        wrong.append(f"standard output has {outcome.stdout[:200]!r}")
    return wrong


def check_faults() -> int:
    """The check must notice every planted fault."""
    row = Row("planted", lambda place: [], 1, ["a.json", "key"])
    good = Outcome(1, b"", b"fullband: a.json: key: is wrong (do it well)\n")
    faults = {
        "exit code": replace(good, code=2), "success": replace(good, code=0), "signal": replace(good, code=-11),
        "result": replace(good, stdout=b"{}\n"), "silence": replace(good, stderr=b""),
        "two lines": replace(good, stderr=good.stderr * 2), "no name": replace(good, stderr=good.stderr[10:]),
        "missing word": replace(good, stderr=good.stderr.replace(b"key", b"kex")),
        "sanitizer": replace(good, stderr=good.stderr[:-1] + b" AddressSanitizer\n"),
        "escape sequence": replace(good, stderr=good.stderr[:-1] + b"\x1b[2J\n"),
        "half a store": replace(good, left=("half a store",)),
    }
    missed = [name for name, outcome in faults.items() if not check(row, outcome)]
    with tempfile.TemporaryDirectory() as temporary:
        half = Path(temporary) / "a.db"
        with sqlite3.connect(half) as database:
            database.execute("CREATE TABLE runs (id INTEGER)")
        database.close()
        if not wrong_store(half):
            missed.append("tables missing in the store")
        half.write_bytes(half.read_bytes()[:5000])
        if not wrong_store(half):
            missed.append("store cut off")
    if check(row, good):
        missed.append(f"a good outcome is refused: {check(row, good)}")
    for name in missed:
        print(f"FAILED planted fault goes unnoticed: {name}")
    return len(missed)


def main() -> int:
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    program = os.path.abspath(sys.argv[1])
    rows = [row for row in ROWS if len(sys.argv) == 2 or sys.argv[2] in row.name]
    assert len({row.name for row in ROWS}) == len(ROWS), "two rows have one name"
    failures, skipped = check_faults(), 0
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        shape = tiny.checkpoints.Shape("good", width=16, inner=24, layers=1, heads=2, groups=1, vocab=3100)
        good = tiny.model(root / "good", shape, "qwen_kind")
        ordinary = tiny.model(root / "ordinary", replace(shape, fusion=None), "qwen_kind")

        def one(numbered: tuple[int, Row]) -> list[str] | Skip:
            number, row = numbered
            folder = root / f"row-{number}"
            folder.mkdir()
            try:
                return check(row, run(program, row, folder, good, ordinary))
            except Skip as skip:
                return skip
            except subprocess.TimeoutExpired:
                return [f"did not end within {TIMEOUT} s"]

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for row, wrong in zip(rows, pool.map(one, enumerate(rows))):
                if isinstance(wrong, Skip):
                    skipped += 1
                    print(f"skipped {row.name}: {wrong}")
                    continue
                failures += bool(wrong)
                for line in wrong:
                    print(f"FAILED {row.name}: {line}")
    print(f"{len(rows)} broken inputs, {skipped} skipped, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
