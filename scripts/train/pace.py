"""A training of so many minutes: as many steps as this machine does in them, so that its schedule ends with them."""
import dataclasses
import statistics
import time

import torch

from files import write_whole
from settings import ConfigError, Phase, read, toml_of
from trainer import Trainer

# Left for evaluations, checkpoints, and steps that are slower than the measured ones.
RESERVE = 0.1


def seconds_per_step(training, repeat=3):
    """{number of passes: seconds of one step} of each that the schedule has, measured on this machine. Trains, and
    then forgets, a model of its own."""
    trainer = Trainer(training, say=lambda text: None)
    found = {}
    for count in sorted({int(count) for phase in training.schedule.phases for count in phase.passes}):
        phases = [Phase(1.0, {str(count): 1.0})]
        trainer.t = dataclasses.replace(training, schedule=dataclasses.replace(training.schedule, phases=phases))
        times = []
        for step in range(1 + repeat):
            begin = time.monotonic()
            trainer.step(step)
            if trainer.device.type == "cuda":
                torch.cuda.synchronize()
            times.append(time.monotonic() - begin)
        found[count] = statistics.median(times[1:])  # the first one also sets things up
    return found


def mean_seconds(schedule, seconds):
    """Of a step, over the whole schedule. seconds: {number of passes: seconds}."""
    total, begin = 0.0, 0.0
    for phase in schedule.phases:
        weights = sum(phase.passes.values())
        mean = sum(weight / weights * seconds[int(count)] for count, weight in phase.passes.items())
        total += (phase.until - begin) * mean
        begin = phase.until
    return total


def of_minutes(training, minutes, seconds):
    """The training with the steps that should fit in `minutes`, and stopped after them in any case."""
    steps = int((1 - RESERVE) * 60 * minutes / mean_seconds(training.schedule, seconds))
    if steps < 1:
        raise ConfigError(f"{minutes:g} minutes are less than one step takes here")
    run = dataclasses.replace(training.run, minutes=minutes, checkpoint_steps=-(-steps // 4),
                              evaluate_steps=-(-steps // 8))
    return dataclasses.replace(training, schedule=dataclasses.replace(training.schedule, steps=steps), run=run)


def write(training, path):
    """Writes the training as a TOML file, whole or not at all, and reads it again: what runs is what is recorded."""
    write_whole(path, toml_of(training.tables()))
    return read(path)
