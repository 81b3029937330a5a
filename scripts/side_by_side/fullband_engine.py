"""Fullband by `fullband bench`."""

from __future__ import annotations

import json

import works
from engine import Configuration, Engine, run
from fault import Fault

# Where half of the decoded tokens see fewer positions and half more, as with the peers.
MIDDLE = works.CONTEXT + works.STEPS[1] // 2


class Fullband(Engine):
    def __init__(self, program, model, weights: str, products, repeats: int, threads: int):
        self.configuration = Configuration(works.FULLBAND, weights, f"{weights} weights")
        self.program, self.model, self.products = program, model, products
        self.repeats, self.threads = repeats, threads

    def measure(self, stage: str) -> dict[str, float]:
        if stage == "prefill":
            report = self._bench(works.PROMPT_LENGTHS, (1,), (2,))
            values = {f"prefill_{one['prompt_tokens']}": rate(one) for one in report["prefill"]}
            longest = max(works.PROMPT_LENGTHS)
            values["sgemm"] = 2 * self.products.parameters * values[f"prefill_{longest}"] / 1e9
            return values
        if stage == "decode":
            report = self._bench((1,), tuple(works.STEPS), (MIDDLE,))
            values = {f"decode_{one['batch']}": rate(one) for one in report["decode"]}
            (single,) = [one for one in report["decode"] if one["batch"] == 1]
            values["read"] = single["gbyte_per_second"]
            values["read_bound"] = report["machine"]["probes"]["read_gbyte_per_second"]
            return values
        return {}

    def _bench(self, prompt_lengths, batches, contexts) -> dict:
        def listed(numbers):
            return ",".join(map(str, numbers))

        text, _ = run(
            [
                self.program,
                "bench",
                "--model",
                self.model,
                "--setting",
                "standard",
                "--threads",
                self.threads,
                "--prompt-lengths",
                listed(prompt_lengths),
                "--chunks",
                max(prompt_lengths),
                "--batches",
                listed(batches),
                "--contexts",
                listed(contexts),
                "--repeats",
                self.repeats,
                "--json",
                "--quiet",
            ]
        )
        try:
            report = json.loads(text)
            report["prefill"], report["decode"], report["machine"]["probes"]
        except (ValueError, KeyError) as error:
            raise Fault(f"{self.program} bench", f"printed something else than its JSON: {error!r}") from error
        return report


def rate(figure: dict) -> float:
    return figure["tokens_per_second"]["median"]
