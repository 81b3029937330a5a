"""Tiny inputs of the program for its tests: checkpoint folders with tokenizers, suites of a user's own, bad files."""
from __future__ import annotations

import json
import shutil
import struct
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "reference"))
sys.dont_write_bytecode = True

import checkpoints  # noqa: E402  (needs NumPy; the callers skip where it is missing)

TOKENIZER_KINDS = TESTS / "data" / "tokenizers"

GENERATE_TOML = """name = "own"
version = 1
title = "Own sums"
ask = "generate"
reader = "gsm8k_jsonl"
graders = ["number"]

[data]
path = "own.jsonl"

[shots]
default = 0

[completion]
question = "Q: {question}\\nA:"
answer = " {answer}"
separator = "\\n\\n"
stop = ["Q:"]

[chat]
question = "{question}"
answer = "{answer}"

[generate]
max_new_tokens = 4
gold = "{final}"
"""

CHOOSE_TOML = """name = "own"
version = 1
title = "Own choices"
ask = "choose"
reader = "multiple_choice_jsonl"
graders = ["acc", "acc_norm"]

[data]
path = "own.jsonl"

[shots]
default = 0

[completion]
question = "Q: {query}\\nA:"
answer = " {choice}"
separator = "\\n\\n"

[chat]
question = "{query}"
answer = "{choice}"
"""

GENERATE_ITEMS = (
    b'{"question": "1+1?", "answer": "One and one.\\n#### 2"}\n'
    b'{"question": "2+3?", "answer": "#### 5"}\n'
)
CHOOSE_ITEMS = (
    b'{"query": "Sky?", "choices": ["blue", "green"], "gold": 0}\n'
    b'{"query": "Grass?", "choices": ["blue", "green"], "gold": 1}\n'
)


def model(folder: Path, shape: checkpoints.Shape | None = None, tokenizer: str | None = None, seed: int = 1) -> Path:
    """A random checkpoint, with one of the tokenizers of tests/data where `tokenizer` names one."""
    checkpoints.write(shape or checkpoints.Shape("tiny", width=16, inner=24, layers=1, heads=2, groups=1), folder, seed)
    if tokenizer:
        for file in (TOKENIZER_KINDS / tokenizer).iterdir():
            shutil.copy(file, folder)
    return folder


def suite(folder: Path, toml: str = GENERATE_TOML, items: bytes = GENERATE_ITEMS) -> Path:
    """own.toml with own.jsonl beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own.toml").write_text(toml)
    (folder / "own.jsonl").write_bytes(items)
    return folder / "own.toml"


def replaced(text: str, old: str, new: str) -> str:
    """`text` with the first `old` replaced; it must be there."""
    assert old in text, f"{old!r} is not in the text to spoil"
    return text.replace(old, new, 1)


def edit_json(file: Path, change) -> None:
    """Lets `change` alter the parsed file."""
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


def read_safetensors(file: Path) -> tuple[dict, bytearray]:
    raw = file.read_bytes()
    (length,) = struct.unpack_from("<Q", raw)
    return json.loads(raw[8 : 8 + length]), bytearray(raw[8 + length :])


def write_safetensors(file: Path, header: dict | bytes, data: bytes) -> None:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + data)


def edit_safetensors(file: Path, change) -> None:
    """Lets `change(header, data)` alter the file's header and the bytes behind it."""
    header, data = read_safetensors(file)
    change(header, data)
    write_safetensors(file, header, data)
