"""Checkpoints of a training: whole or not there, whenever the process is killed."""
import json
import os
from pathlib import Path

import torch

from files import write_whole


class CheckpointError(Exception):
    """Names the folder and what to do."""


def _sync(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def save(out, step, model, optimizer, identity, extra, keep):
    """Writes out/step-<step>.pt, beside it first and then renamed, and removes all but the newest `keep`."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    file, draft = folder / f"step-{step:08d}.pt", folder / f".step-{step:08d}.{os.getpid()}.tmp"
    torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "identity": json.dumps(identity, sort_keys=True), "extra": extra}, draft)
    _sync(draft)
    draft.replace(file)
    _sync(folder)
    for old in sorted(folder.glob("step-*.pt"))[:-keep]:
        old.unlink()
    for left in folder.glob(".step-*.tmp"):  # of processes that were killed
        left.unlink(missing_ok=True)


def load(out, model, optimizer, identity, device):
    """(steps done, extra) of the newest checkpoint, loaded into model and optimizer; (0, {}) where there is none."""
    files = sorted(Path(out).glob("step-*.pt"))
    if not files:
        return 0, {}
    try:
        state = torch.load(files[-1], map_location=device, weights_only=True)
    except Exception as fault:
        raise CheckpointError(f"{files[-1]}: cannot be read: {str(fault).splitlines()[0]} "
                              "(remove it to go on from the one before)") from None
    changed = differences(json.loads(state["identity"]), json.loads(json.dumps(identity)))
    if changed:
        raise CheckpointError(f"{files[-1]}: is of another training: {', '.join(changed)} "
                              f"{'differs' if len(changed) == 1 else 'differ'} "
                              "(name another [run] out, or remove the folder)")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["step"], state["extra"]


def differences(then, now):
    """The keys, as [part] key, whose values differ."""
    return [f"[{part}] {key}" for part in sorted({*then, *now})
            for key in sorted({*then.get(part, {}), *now.get(part, {})})
            if then.get(part, {}).get(key) != now.get(part, {}).get(key)]


def keep_metrics(file, steps):
    """Drops the lines of a metrics file past `steps`, and a torn last one: those steps are done again."""
    file = Path(file)
    if not file.exists():
        return
    kept = []
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            if json.loads(line)["step"] <= steps:
                kept.append(line)
        except ValueError:
            break
    write_whole(file, "".join(line + "\n" for line in kept))

