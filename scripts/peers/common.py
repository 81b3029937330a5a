"""What the recording scripts share: where files are, the prompts that are compared, and how fixtures are written."""
from __future__ import annotations

import difflib
import hashlib
import json
import os
import struct
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("FULLBAND_SHARED", REPOSITORY.parent / "shared"))
DATASETS = SHARED / "datasets"
SMOLLM2 = REPOSITORY / "models" / "smollm2-135m-instruct"
PEER_DATA = REPOSITORY / "tests" / "data" / "peers"
REPEATED = 100  # characters of a problem in one piece


def gsm8k_questions(count: int) -> list[str]:
    """The first questions of GSM8K's test file."""
    lines = (DATASETS / "gsm8k" / "test.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines[:count]]


def gsm8k_prompt(question: str) -> str:
    """A question as one ChatML turn: SmolLM2-Instruct answers it at length, a bare `Answer:` in a few tokens."""
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"


def repeats(problem: str, text: str) -> bool:
    """Whether a text holds so long a piece of a problem as it stands that it should not be kept in a fixture."""
    match = difflib.SequenceMatcher(None, problem, text, autojunk=False).find_longest_match()
    return match.size >= REPEATED


def hash_ids(ids) -> str:
    """16 hex digits over token ids as little-endian int32: identifies a token sequence without its text."""
    return hashlib.sha256(struct.pack(f"<{len(ids)}i", *ids)).hexdigest()[:16]


def write_fixture(name: str, content: dict) -> None:
    """Writes tests/data/peers/<name> as compact JSON."""
    PEER_DATA.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n"
    path = PEER_DATA / name
    path.write_text(text)
    print(f"wrote {path.relative_to(REPOSITORY)} ({path.stat().st_size} bytes)")
