#!/usr/bin/env python3
"""Trains a model as one TOML file describes. Started again, it goes on after the last checkpoint.

    scripts/train/train CONFIG.toml [--export DIR] [--processes N]
    torchrun --nnodes 2 --nproc-per-node 8 ... scripts/train/train.py CONFIG.toml      on several machines
"""
import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # everything is read from folders that are named
sys.path.insert(0, str(Path(__file__).resolve().parent))

from torch.distributed.elastic.multiprocessing.api import SignalException  # noqa: E402
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError  # noqa: E402
from torch.distributed.run import main as torchrun  # noqa: E402

from checkpoints import CheckpointError  # noqa: E402
from data import DataError  # noqa: E402
from models import export  # noqa: E402
from settings import ConfigError, read  # noqa: E402
from trainer import Trainer, TrainingStopped, leave  # noqa: E402


def launch(processes):
    """This command in several processes, under torchrun's launcher."""
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, len(os.sched_getaffinity(0)) // processes)))
    try:
        torchrun(["--standalone", "--nproc-per-node", str(processes), __file__, *sys.argv[1:]])
    except SignalException:
        return 130  # the processes have said where they stopped
    except ChildFailedError as fault:
        return next(iter(fault.failures.values())).exitcode  # and these, what was wrong
    return 0


def main():
    parser = argparse.ArgumentParser(prog="train", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", help="TOML file (its keys: scripts/train/settings.py)")
    parser.add_argument("--export", type=Path, help="when trained, write the model to this new folder")
    parser.add_argument("--processes", type=int, default=1,
                        help="processes on this machine (one for each GPU, say) that share each step's rows")
    options = parser.parse_args()
    if options.processes < 1:
        parser.error("--processes: at least 1")
    try:
        if options.export and options.export.exists():
            raise ConfigError(f"{options.export}: exists; --export writes a new folder")
        training = read(options.config)
        if options.processes > 1 and "RANK" not in os.environ:
            return launch(options.processes)
        trainer = Trainer(training)
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
    if not finished and trainer.rank == 0:
        print(f"train: stopped after step {trainer.done}; the same command goes on from there", file=sys.stderr)
    return 0 if finished else 130


if __name__ == "__main__":
    sys.exit(main())
