"""What is measured, and by which factor Fullband means to lead: one row of WORKS each.

A work belongs to a stage (what --only names), and has a goal: our median over the best peer's. "Best" is among one of
the FIELDS, and a goal may be asked for in more than one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

FULLBAND, TRANSFORMERS, LLAMA_CPP, HARNESS = "Fullband", "transformers", "llama.cpp", "lm-evaluation-harness"
STAGES = ("prefill", "decode", "gsm8k", "arc_easy")
END_TO_END = ("gsm8k", "arc_easy")

# The numbers that a configuration computes with: those of the bfloat16 checkpoint, as all peers do, or others that no
# bfloat16 holds.
SHARED_NUMBERS, WIDE_NUMBERS = "bfloat16", "beyond bfloat16"

# Peers that compute in float32 throughout, as Fullband always does: those with float32 weights. With 16-bit weights
# transformers and llama.cpp round activations, too. "width" are those with weights as wide as our checkpoint's.
FIELDS = {"float32": "best in float32 throughout", "width": "best of the same width", "all": "best of all"}


@dataclass(frozen=True)
class Work:
    name: str
    stage: str
    title: str
    unit: str
    goal: float | None  # our median over the best peer's
    among: tuple[str, ...] = ("all",)  # fields


WORKS = (
    Work("prefill_128", "prefill", "prefill, 128 tokens", "tokens/s", None),
    Work("prefill_512", "prefill", "prefill, 512 tokens", "tokens/s", 1.2, ("float32", "all")),
    Work("decode_1", "decode", "decode, batch 1", "tokens/s", 1.3, ("width",)),
    Work("decode_8", "decode", "decode, batch 8", "tokens/s", 2.5, ("float32", "all")),
    Work("decode_32", "decode", "decode, batch 32", "tokens/s", 3.0, ("float32", "all")),
    Work("gsm8k", "gsm8k", "gsm8k, 5 shots, end to end", "items/s", 10.0),
    Work("arc_easy", "arc_easy", "arc_easy, 5 shots, end to end", "items/s", 12.0),
)


@dataclass(frozen=True)
class Bound:
    """A measured limit of the machine, and the share of it that Fullband means to reach."""

    name: str
    stage: str
    title: str
    unit: str
    goal: float


BOUNDS = (
    Bound("sgemm", "prefill", "prefill, 512 tokens, of sgemm (the model's own products)", "GFLOP/s", 0.75),
    Bound("read", "decode", "decode, batch 1, of reading memory", "GB/s", 0.80),
)

CONTEXT = 128  # tokens before the decoded ones
STEPS = {1: 64, 8: 32, 32: 32}  # decoded by each row, by batch
QUICK_STEPS = {1: 16, 8: 8, 32: 4}
ITEMS = {"gsm8k": 64, "arc_easy": 100}
QUICK_ITEMS = {"gsm8k": 2, "arc_easy": 4}
MAX_NEW = 256
PROMPT_LENGTHS = (128, 512)


def prompt(tokens: int) -> list[int]:
    """Token ids that only have to be the same everywhere: what they say changes no time."""
    return [1000 + (i * 7919) % 40000 for i in range(tokens)]
