"""The matrix products of a model's positions, from a checkpoint's config.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from fault import Fault


@dataclass(frozen=True)
class Products:
    """`shapes`: (outputs, inputs, how often) of every product whose rows are the prompt's positions. The head is not
    among them: of a prompt it is asked for the last position alone, but for each decoded token (`head_parameters`)."""

    shapes: list[tuple[int, int, int]]
    head_parameters: int

    @property
    def parameters(self) -> int:
        return sum(outputs * inputs * times for outputs, inputs, times in self.shapes)

    def bound(self, stage: str, gflop_per_second: float) -> float:
        """Tokens/s of prefill or decode that a rate of multiply-adds allows: two operations for each parameter that a
        token needs; attention, norms and the head of a prompt's last token come on top of that."""
        used = self.parameters + (self.head_parameters if stage == "decode" else 0)
        return gflop_per_second * 1e9 / (2 * used)


def read_products(folder: Path) -> Products:
    path = Path(folder) / "config.json"
    try:
        config = json.loads(path.read_text())
        width, inner, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
        heads = config["num_attention_heads"]
        head = config.get("head_dim") or width // heads
        keys = config.get("num_key_value_heads", heads) * head
        vocabulary = config["vocab_size"]
    except (OSError, ValueError, KeyError) as error:
        raise Fault(
            path, f"is no checkpoint's configuration: {error!r}", "scripts/fetch_smollm2 makes the model"
        ) from error
    return Products(
        [
            (heads * head, width, layers),
            (keys, width, 2 * layers),
            (width, heads * head, layers),
            (inner, width, 2 * layers),
            (width, inner, layers),
        ],
        vocabulary * width,
    )
