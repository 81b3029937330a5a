"""Checks what `fullband inspect` says of random checkpoints against the files themselves.

Run: python3 check_inspect.py PROGRAM   (needs numpy only)
"""
from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np  # noqa: F401  (the checkpoints need it)
except ModuleNotFoundError:
    print("numpy is missing: run scripts/setup")
    sys.exit(77)  # skipped

import checkpoints

DTYPE_NAMES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}


def weights_sha256(folder: Path) -> str:
    """By the documented rule: name, dtype and shape as text, then the bytes, in name order."""
    blob = (folder / "model.safetensors").read_bytes()
    start = 8 + int.from_bytes(blob[:8], "little")
    digest = hashlib.sha256()
    for name, entry in sorted(json.loads(blob[8:start]).items()):
        begin, end = entry["data_offsets"]
        digest.update(f"{name} {DTYPE_NAMES[entry['dtype']]} {'x'.join(map(str, entry['shape']))}\n".encode())
        digest.update(blob[start + begin : start + end])
    return digest.hexdigest()


def expected(shape: checkpoints.Shape, folder: Path) -> dict:
    tensors = checkpoints.random_tensors(shape, 1)
    head = shape.head_dim or shape.width // shape.heads
    kv = 2 * shape.layers * shape.groups * head * 4
    weights = sum(v.size * (4 if shape.dtypes[i % len(shape.dtypes)] == "F32" else 2) for i, v in enumerate(tensors.values()))
    return {
        "family": shape.family, "parameters": sum(v.size for v in tensors.values()), "hidden_size": shape.width,
        "layers": shape.layers, "heads": shape.heads, "kv_heads": shape.groups, "head_dim": head,
        "intermediate_size": shape.inner, "vocab_size": shape.vocab, "tied_embeddings": shape.tied,
        "latent_feedback": {"fusion": shape.fusion} if shape.fusion else None, "weights_sha256": weights_sha256(folder),
        "memory": {"weights_bytes": weights, "kv_bytes_per_position": kv, "sequence_positions": 2048,
                   "sequence_bytes": 2048 * kv, "state_bytes": 4 * shape.width},
    }


def inspect(program: str, cache: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([program, "inspect", *arguments], capture_output=True, text=True, timeout=120,
                          env=os.environ | {"FULLBAND_CACHE": str(cache)})


def check_shape(program: str, shape: checkpoints.Shape, folder: Path, cache: Path) -> list[str]:
    done = inspect(program, cache, "--model", str(folder), "--json")
    if done.returncode != 0:
        return [f"exit code {done.returncode}: {done.stderr}"]
    said = json.loads(done.stdout)
    wrong = [f"{key}: {said.get(key)}, expected {value}" for key, value in expected(shape, folder).items() if said.get(key) != value]
    read = inspect(program, cache, "--model", str(folder))
    for word in (shape.family, said["weights_sha256"], shape.fusion or "none"):
        if read.returncode != 0 or word not in read.stdout:
            wrong.append(f"the readable form lacks {word}: {read.stdout!r} {read.stderr!r}")
    return wrong


def check_unknown_folder(program: str, folder: Path, cache: Path) -> list[str]:
    done = inspect(program, cache, "--model", str(folder)[:-1])
    right = done.returncode == 2 and f"did you mean {folder.name}" in done.stderr and not done.stdout
    return [] if right else [f"unknown folder: exit code {done.returncode}, {done.stderr!r}"]


def main() -> int:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    failures = []
    with tempfile.TemporaryDirectory() as temporary:
        root, cache = Path(temporary) / "models", Path(temporary) / "cache"
        for shape in checkpoints.SHAPES:
            folder = checkpoints.write(shape, root / shape.name)
            failures += [f"{shape.name}: {line}" for line in check_shape(sys.argv[1], shape, folder, cache)]
        failures += check_unknown_folder(sys.argv[1], root / "tied_glu", cache)
    for line in failures:
        print("FAILED", line)
    print(f"{len(checkpoints.SHAPES)} checkpoints inspected, {len(failures)} faults")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
