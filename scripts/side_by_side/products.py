"""The matrix products of a prefill, from a checkpoint's config.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from fault import Fault


@dataclass(frozen=True)
class Products:
    """`shapes`: (outputs, inputs, how often) of every product whose rows are the prompt's positions. The head is left
    out: of a prompt it is asked for the last position alone."""

    shapes: list[tuple[int, int, int]]

    @property
    def parameters(self) -> int:
        return sum(outputs * inputs * times for outputs, inputs, times in self.shapes)


def read_products(folder: Path) -> Products:
    path = Path(folder) / "config.json"
    try:
        config = json.loads(path.read_text())
        width, inner, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
        heads = config["num_attention_heads"]
        head = config.get("head_dim") or width // heads
        keys = config.get("num_key_value_heads", heads) * head
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
        ]
    )
