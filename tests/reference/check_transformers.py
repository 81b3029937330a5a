"""Checks the extended reference (biases, q/k norms, rope types, head widths) against Hugging Face transformers.

Run: python3 check_transformers.py   (needs numpy, torch and transformers; skipped without them)
"""
from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import torch
    import transformers
except ModuleNotFoundError as missing:
    print(f"{missing.name} is missing: run scripts/setup --peers")
    sys.exit(77)  # skipped

import checkpoints
import fbt_reference as fbt


def transformers_logits(folder: Path, tokens: list[int]) -> np.ndarray:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager")
    with torch.no_grad():
        return model(torch.tensor([tokens])).logits[0].numpy()


def reference_logits(folder: Path, tokens: list[int]) -> np.ndarray:
    model = fbt.Model.load(folder)
    h, _ = fbt.prefill(model, tokens)
    return h @ model.head().T


def ordinary(shape: checkpoints.Shape) -> checkpoints.Shape:
    """The same shape without feedback: what transformers knows."""
    return dataclasses.replace(shape, fusion=None, family=shape.family.replace("FullBandwidth", ""))


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        for shape in map(ordinary, checkpoints.SHAPES):
            folder = checkpoints.write(shape, Path(temporary) / shape.name)
            config = json.loads((folder / "config.json").read_text())
            kind = shape.family.removesuffix("ForCausalLM").lower()
            (folder / "config.json").write_text(json.dumps(config | {"model_type": kind}))
            tokens = [int(t) for t in np.random.default_rng(3).integers(0, shape.vocab, 60)]
            error = np.abs(transformers_logits(folder, tokens) - reference_logits(folder, tokens)).max()
            # transformers rotates and normalises in float32 whatever the model's dtype: 2^-24 of angles up to 60,
            # some ten operations, logits of size 10.
            bad = not error < 5e-5
            failed += bad
            print(f"{'FAILED ' if bad else ''}{shape.name}: largest difference {error:.2g}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
