"""Before anything is timed: all engines continue one prompt, computing in float32, by the same tokens; Fullband from
each form of the checkpoint."""

from __future__ import annotations

import json

import works
from engine import run, token_ids
from fault import Fault
from prepare import SCRIPTS

# Long enough that a difference in weights, rotation or norms would show, and far from ties.
TEXT = (
    "The lighthouse keeper climbed the stairs every evening to light the lamp, and every morning he wrote down what he "
    "had seen of the sea. On the first day of winter a ship came in with"
)
TOKENS = 48


def fullband_tokens(setup, model, prompt, threads) -> list[int]:
    text, _ = run(
        [
            setup.program,
            "decode",
            "--model",
            model,
            "--setting",
            "standard",
            "--max-new",
            TOKENS,
            "--threads",
            threads,
            "--tokens",
            ",".join(map(str, prompt)),
            "--json",
        ]
    )
    return json.loads(text)["tokens"]


def llama_cpp_tokens(setup, prompt, threads) -> dict:
    """As llama_greedy.py prints it."""
    text, _ = run(
        [
            setup.peers_python,
            SCRIPTS / "side_by_side/llama_greedy.py",
            setup.llama_cpp,
            setup.ggufs["float32"],
            threads,
            TOKENS,
            ",".join(map(str, prompt)),
        ]
    )
    return json.loads(text)


def check(setup, engines, worker, threads: int, versions: dict) -> None:
    """Throws Fault where an engine's tokens differ from Fullband's; adds to `versions` what it learns of them."""
    (prompt,) = token_ids(setup, [TEXT])
    ours = fullband_tokens(setup, setup.model, prompt, threads)
    others = {}
    if works.FULLBAND in engines:
        widened = fullband_tokens(setup, setup.widened, prompt, threads)
        others[f"{works.FULLBAND}, float32 checkpoint"] = widened
    if works.TRANSFORMERS in engines:
        others[works.TRANSFORMERS] = worker.ask(
            job="greedy", dtype="float32", attention="sdpa", prompt=prompt, tokens=TOKENS
        )["tokens"]
    if works.LLAMA_CPP in engines:
        found = llama_cpp_tokens(setup, prompt, threads)
        others[works.LLAMA_CPP] = found["tokens"]
        versions |= {"llama_cpp_python": found["version"], "llama_cpp_system": found["system"]}
    compare(ours, others)


def compare(ours: list[int], others: dict[str, list[int]]) -> None:
    for name, tokens in others.items():
        if tokens == ours:
            continue
        same = next((i for i, pair in enumerate(zip(ours, tokens)) if pair[0] != pair[1]), min(len(ours), len(tokens)))
        raise Fault(
            name,
            f"continues the prompt otherwise than Fullband from its token {same} on ({tokens[same:same + 3]}, "
            f"ours {ours[same:same + 3]}): they do not do the same work",
            "remove what was made of the model in the cache folder's peers/, and run again",
        )
