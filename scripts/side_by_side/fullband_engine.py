"""Fullband by `fullband bench`."""

from __future__ import annotations

import json

import works
from engine import Configuration, Engine, run
from fault import Fault

# Where half of the decoded tokens see fewer positions and half more, as with the peers.
MIDDLE = works.CONTEXT + works.STEPS[1] // 2


class Fullband(Engine):
    """A checkpoint whose tensors are stored as `weights`."""

    def __init__(
        self, program, model, weights: str, products, repeats: int, threads: int, numbers=works.SHARED_NUMBERS
    ):
        name = f"{weights} checkpoint" + (f", numbers {numbers}" if numbers == works.WIDE_NUMBERS else "")
        self.configuration = Configuration(works.FULLBAND, weights, name, numbers)
        self.program, self.model, self.products = program, model, products
        self.repeats, self.threads = repeats, threads

    def measure(self, stage: str) -> dict[str, float]:
        if stage == "prefill":
            report = self._bench(works.PROMPT_LENGTHS, (1,), (2,))
            values = {f"prefill_{one['prompt_tokens']}": rate(one) for one in report["prefill"]}
            longest = max(works.PROMPT_LENGTHS)
            values["sgemm"] = 2 * self.products.parameters * values[f"prefill_{longest}"] / 1e9
            return values | self._bound(stage, report)
        if stage == "decode":
            report = self._bench((1,), tuple(works.STEPS), (MIDDLE,))
            values = {f"decode_{one['batch']}": rate(one) for one in report["decode"]}
            (single,) = [one for one in report["decode"] if one["batch"] == 1]
            values["read"] = single["gbyte_per_second"]
            values["read_bound"] = report["machine"]["probes"]["read_gbyte_per_second"]
            return values | self._bound(stage, report)
        return {}

    def _bound(self, stage: str, report: dict) -> dict[str, float]:
        """What the peak of float32 multiply-adds, by the fastest instructions that the machine has, allows."""
        peak = max(one["gflop_per_second"] for one in report["machine"]["probes"]["multiply_add"])
        return {f"{stage}_bound": self.products.bound(stage, peak)}

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
            report["prefill"], report["decode"], report["machine"]["probes"]["multiply_add"]
        except (ValueError, KeyError, TypeError) as error:
            raise Fault(f"{self.program} bench", f"printed something else than its JSON: {error!r}") from error
        return report


def rate(figure: dict) -> float:
    return figure["tokens_per_second"]["median"]
