#!/usr/bin/env python3
"""Trains a model as one TOML file describes. Started again, it goes on after the last checkpoint.

    scripts/train/train CONFIG.toml [--export DIR]
    torchrun --nproc-per-node 8 scripts/train/train.py CONFIG.toml
"""
import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # everything is read from folders that are named
sys.path.insert(0, str(Path(__file__).resolve().parent))

from checkpoints import CheckpointError  # noqa: E402
from data import DataError  # noqa: E402
from models import export  # noqa: E402
from settings import ConfigError, read  # noqa: E402
from trainer import Trainer, TrainingStopped, leave  # noqa: E402


def main():
    parser = argparse.ArgumentParser(prog="train", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", help="TOML file (its keys: scripts/train/settings.py)")
    parser.add_argument("--export", type=Path, help="when trained, write the model to this new folder")
    options = parser.parse_args()
    try:
        if options.export and options.export.exists():
            raise ConfigError(f"{options.export}: exists; --export writes a new folder")
        trainer = Trainer(read(options.config))
        finished = trainer.run()
        if finished and options.export and trainer.rank == 0:
            export(trainer.model, trainer.t, options.export, record={"step": trainer.done, **trainer.extra()})
    except (ConfigError, DataError, CheckpointError, TrainingStopped) as fault:
        print(f"train: {fault}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("train: stopped before the first step", file=sys.stderr)
        return 130
    finally:
        leave()
    if not finished:
        print(f"train: stopped after step {trainer.done}; the same command goes on from there", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
