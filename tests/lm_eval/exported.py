"""What the tests of the export share: stores of small runs, exported; plain readers of the files."""
from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "models" / "mini-fbt"


class Export:
    """A store of runs of mini-fbt on bundled suites, and its export."""

    def __init__(self, folder: Path, fullband: str, exporter: str):
        self.folder, self.fullband, self.exporter = folder, fullband, exporter
        self.store = folder / "a.db"

    def run(self, *words: str) -> str:
        environment = os.environ | {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "10000"}
        done = subprocess.run([self.fullband, *words], capture_output=True, text=True, timeout=600, env=environment)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr}")
        return done.stdout

    def ask(self, suites: str, settings: str, *more: str) -> None:
        self.run("run", "--model", str(MODEL), "--suite", suites, "--setting", settings, "--store", str(self.store),
                 "--quiet", *more)

    def write(self) -> list[Path]:
        done = subprocess.run([self.exporter, str(self.store), str(self.folder / "export")], capture_output=True,
                              text=True, timeout=600, check=True)
        return [Path(line) for line in done.stdout.splitlines()]


def results_in(files: list[Path]) -> list[dict]:
    return [json.loads(file.read_text()) for file in files if file.name.startswith("results_")]


def samples_in(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def means(samples: list[dict]) -> dict[str, list[float]]:
    """By "metric,filter" the values of the documents, in their order."""
    values: dict[str, list[float]] = {}
    for sample in samples:
        for metric in sample["metrics"]:
            values.setdefault(f"{metric},{sample['filter']}", []).append(sample[metric])
    return values
