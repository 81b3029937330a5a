"""Checkpoints of a training: whole or not there, whenever the process is killed."""
import json
import os
import shutil
from pathlib import Path

import torch


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
    for draft in folder.glob(".step-*.tmp"):
        draft.unlink(missing_ok=True)


def load(out, model, optimizer, identity, device):
    """(steps done, extra) of the newest checkpoint, loaded into model and optimizer; (0, {}) where there is none."""
    files = sorted(Path(out).glob("step-*.pt"))
    if not files:
        return 0, {}
    state = torch.load(files[-1], map_location=device, weights_only=True)
    if state["identity"] != json.dumps(identity, sort_keys=True):
        then, now = json.loads(state["identity"]), json.loads(json.dumps(identity))
        changed = sorted(f"{part}.{key}" for part in now for key in now[part] if then.get(part, {}).get(key) != now[part][key])
        raise CheckpointError(f"{files[-1]}: is of another training ({', '.join(changed) or 'its data'} differ); "
                              "name another [run] out, or remove the folder")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["step"], state["extra"]


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
    draft = file.with_name(f".{file.name}.tmp")
    draft.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
    draft.replace(file)


def clear(out):
    shutil.rmtree(out, ignore_errors=True)
