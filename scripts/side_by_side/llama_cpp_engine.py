"""llama.cpp by its own benchmark programs (scripts/peers/build_llama_cpp builds them)."""

from __future__ import annotations

import json
import statistics

import works
from engine import Configuration, Engine, run
from fault import Fault


class LlamaCpp(Engine):
    """A GGUF file of type `weights`; the rest is llama.cpp's defaults, so keys and values are in float16 even where
    everything else is in float32."""

    def __init__(self, folder, gguf, weights: str, steps: dict[int, int], repeats: int, threads: int):
        self.configuration = Configuration(works.LLAMA_CPP, weights, weights)
        self.folder, self.gguf, self.steps, self.repeats, self.threads = folder, gguf, steps, repeats, threads

    def measure(self, stage: str) -> dict[str, float]:
        if stage == "prefill":
            return self._prefill()
        if stage == "decode":
            return self._decode()
        return {}

    def _prefill(self) -> dict[str, float]:
        """Seconds are those of whole prompts; llama-bench warms up by one before."""
        text, _ = run(
            [
                self.folder / "bin/llama-bench",
                "-m",
                self.gguf,
                "-p",
                ",".join(map(str, works.PROMPT_LENGTHS)),
                "-n",
                0,
                "-r",
                self.repeats,
                "-t",
                self.threads,
                "-o",
                "json",
            ]
        )
        values = {}
        for entry in json.loads(text):
            values[f"prefill_{entry['n_prompt']}"] = entry["n_prompt"] * 1e9 / statistics.median(entry["samples_ns"])
        return values

    def _decode(self) -> dict[str, float]:
        values = {}
        for steps in sorted(set(self.steps.values())):
            batches = [batch for batch, own in self.steps.items() if own == steps]
            values |= self._decode_batches(batches, steps)
        return values

    def _decode_batches(self, batches: list[int], steps: int) -> dict[str, float]:
        """All rows see the same prompt, which is run once and then copied, so that only the steps take time."""
        positions = max(batches) * (works.CONTEXT + steps)
        text, _ = run(
            [
                self.folder / "bin/llama-batched-bench",
                "-m",
                self.gguf,
                "-c",
                positions,
                "-npp",
                works.CONTEXT,
                "-ntg",
                steps,
                "-npl",
                ",".join(map(str, batches)),
                "-pps",
                "-t",
                self.threads,
                "-tb",
                self.threads,
                "--output-format",
                "jsonl",
            ]
        )
        values = {}
        for line in text.splitlines():
            if line.startswith("{"):
                entry = json.loads(line)
                values[f"decode_{entry['pl']}"] = entry["pl"] * entry["tg"] / entry["t_tg"]
        if set(values) != {f"decode_{batch}" for batch in batches}:
            raise Fault("llama-batched-bench", f"measured {sorted(values)} where batches {batches} were asked for")
        return values
