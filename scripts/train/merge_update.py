#!/usr/bin/env python3
"""Merges an update, as scripts/gpu_retrofit writes it, into the checkpoint that it was made from, and writes the result
as a new checkpoint folder, which Fullband and from_pretrained read.

    scripts/train/merge_update --base models/smollm2-135m-instruct --update DIR --out models/smollm2-135m-latent
"""
import argparse
import dataclasses
import os
import sys
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent))

import torch  # noqa: E402
from transformers.utils import logging  # noqa: E402

import low_rank  # noqa: E402
import models  # noqa: E402
from settings import ConfigError, read  # noqa: E402

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def merged(base, update):
    """(model, training, what update.json says) of the checkpoint `base` with the update."""
    tensors, about = low_rank.load(update, base)
    training = read(Path(update) / "training.toml")
    training = dataclasses.replace(training, model=dataclasses.replace(training.model, start=str(base), tokenizer=""))
    model = models.build(training, *models.load_tokenizer(training.model)).eval()
    low_rank.apply(model, tensors, update)
    return model, training, about


def main():
    parser = argparse.ArgumentParser(prog="merge_update", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, required=True, help="checkpoint folder that the training started from")
    parser.add_argument("--update", type=Path, required=True, help="folder with update.json")
    parser.add_argument("--out", type=Path, required=True, help="new folder")
    parser.add_argument("--dtype", choices=TYPES, default="f32", help="of the weights on disk")
    options = parser.parse_args()
    logging.disable_progress_bar()
    try:
        model, training, about = merged(options.base, options.update)
        record = {"base": about["base"], "residual_of_low_rank": about["residual"]}
        models.export(model, training, options.out, TYPES[options.dtype], record)
    except (low_rank.UpdateError, ConfigError, OSError) as fault:
        print(f"merge_update: {fault}", file=sys.stderr)
        return 1
    print(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
