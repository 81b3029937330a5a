"""Rounds: every engine once, then every engine once again, so that a drift of the machine meets all of them."""

from __future__ import annotations

import time

import works


class Measured:
    """Every repeat of everything, as it goes into the JSON file."""

    def __init__(self):
        self.values = {}  # (work or bound, configuration): [one a round]

    def add(self, configuration, found: dict[str, float]) -> None:
        for name, value in found.items():
            self.values.setdefault((name, configuration), []).append(value)

    def entries(self) -> list[dict]:
        return [
            {
                "work": name,
                "engine": configuration.engine,
                "weights": configuration.weights,
                "configuration": configuration.name,
                "numbers": configuration.numbers,
                "values": values,
            }
            for (name, configuration), values in self.values.items()
        ]


def in_turn(engines: list, number: int) -> list:
    """Every other round backwards: whoever comes first or last is not always the same."""
    return engines if number % 2 == 0 else engines[::-1]


def measure_stage(
    stage: str, engines: list, rounds: int, measured: Measured, say, after_round=lambda stage: None
) -> None:
    for number in range(rounds):
        for engine in in_turn(engines, number):
            start = time.perf_counter()
            found = engine.measure(stage)
            if not found:
                continue
            measured.add(engine.configuration, found)
            seconds = time.perf_counter() - start
            shown = ", ".join(f"{name} {value:.3g}" for name, value in found.items())
            say(f"{stage}, round {number + 1}/{rounds}: {engine.configuration.title}: {shown} ({seconds:.0f} s)")
        after_round(stage)


def rounds_of(stage: str, options) -> int:
    return options.rounds_end_to_end if stage in works.END_TO_END else options.rounds
