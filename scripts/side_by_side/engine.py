"""What every engine is to the measuring loop, and one process run to its end."""

from __future__ import annotations

import json
import subprocess
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass

import works
from fault import Fault


@dataclass(frozen=True)
class Configuration:
    """One way to run one engine. `weights` is float32, bfloat16 or float16, as they are given to it; `name` says what
    else was chosen, `numbers` which ones the weights are."""

    engine: str
    weights: str
    name: str
    numbers: str = works.SHARED_NUMBERS

    @property
    def title(self) -> str:
        return f"{self.engine}, {self.name}"


class Engine(ABC):
    """Measures one configuration, a stage at a time. Whatever it starts ends with close()."""

    configuration: Configuration

    @abstractmethod
    def measure(self, stage: str) -> dict[str, float]:
        """One repeat of the stage: {name of a work or bound: value in its unit}. Throws Fault."""

    def close(self) -> None:
        """Ends what measure() keeps for the next repeat."""


def last_lines(text: str, count: int = 3) -> str:
    return " / ".join(line.strip() for line in text.splitlines()[-count:] if line.strip())


def run(command: list, **options) -> tuple[str, float]:
    """Standard output and wall seconds of a process, start and end included. Throws Fault where it fails."""
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            text=True,
            check=False,
            stdin=options.pop("stdin", subprocess.DEVNULL) if "input" not in options else None,
            **options,
        )
    except OSError as error:
        raise Fault(command[0], error.strerror) from error
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise Fault(command[0], f"ended with status {done.returncode}: {last_lines(done.stderr) or 'it says nothing'}")
    return done.stdout, seconds


def token_ids(setup, texts: list[str]) -> list[list[int]]:
    """Of each text, by `fullband tokenize`."""
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    text, _ = run([setup.program, "tokenize", "--model", setup.model], input=lines)
    return [json.loads(line)["ids"] for line in text.splitlines()]
