"""What a step does, as a function of the step alone: learning rate and number of passes."""
import math

from data import generator


def learning_rate(schedule, step):
    """Rises to the full rate over the warm-up, stays, and falls along a cosine to `final_rate` of it at the end."""
    warmup = schedule.warmup * schedule.steps
    decay = schedule.decay * schedule.steps
    factor = min(1.0, (step + 1) / warmup) if warmup else 1.0
    left = (schedule.steps - 1 - step) / decay if decay else 1.0
    if left < 1:
        factor *= schedule.final_rate + (1 - schedule.final_rate) * 0.5 * (1 - math.cos(math.pi * left))
    return schedule.learning_rate * factor


def passes(schedule, step, seed):
    """Number of passes of a step's batch, drawn with its phase's weights."""
    phase = next(p for p in schedule.phases if step < round(p.until * schedule.steps))
    choices = sorted((int(count), weight) for count, weight in phase.passes.items())
    place = generator(seed, 2, step).random() * sum(weight for _, weight in choices)
    for count, weight in choices:
        place -= weight
        if place < 0:
            return count
    return choices[-1][0]
