"""Hugging Face transformers, as a process that stays (transformers_worker.py says why)."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

import works
from engine import Configuration, Engine, last_lines
from fault import Fault

WORKER = Path(__file__).with_name("transformers_worker.py")
# Weights and attention: sdpa is the default and the faster one but for decoding with bfloat16.
CONFIGURATIONS = (("float32", "sdpa"), ("bfloat16", "sdpa"), ("bfloat16", "eager"))


class Worker:
    """The process; requests and replies are transformers_worker.py's. Used by all configurations."""

    def __init__(self, python, model, threads: int):
        self.log = tempfile.TemporaryFile("w+")
        environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "OMP_NUM_THREADS": str(threads),
            "OPENBLAS_NUM_THREADS": str(threads),
        }
        self.process = subprocess.Popen(
            [python, "-W", "ignore", WORKER, model, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=environment,
        )

    def ask(self, **request) -> dict:
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.log.seek(0)
            raise Fault("transformers", f"its process ended: {last_lines(self.log.read()) or 'it says nothing'}")
        reply = json.loads(line)
        if "error" in reply:
            raise Fault("transformers", reply["error"])
        return reply

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # it has ended already
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()


class Transformers(Engine):
    def __init__(self, worker: Worker, weights: str, attention: str, steps: dict[int, int], repeats: int):
        self.configuration = Configuration(works.TRANSFORMERS, weights, f"{weights}, {attention} attention")
        self.worker, self.steps, self.repeats = worker, steps, repeats
        self.kind = {"dtype": weights, "attention": attention}

    def measure(self, stage: str) -> dict[str, float]:
        values = {}
        if stage == "prefill":
            for length in works.PROMPT_LENGTHS:
                reply = self.worker.ask(job="prefill", prompt=works.prompt(length), repeats=self.repeats, **self.kind)
                values[f"prefill_{length}"] = length / statistics.median(reply["seconds"])
        elif stage == "decode":
            for batch, steps in self.steps.items():
                reply = self.worker.ask(
                    job="decode", prompt=works.prompt(works.CONTEXT), batch=batch, tokens=steps, **self.kind
                )
                values[f"decode_{batch}"] = batch * steps / reply["seconds"]
        return values


class Sgemm(Engine):
    """The products of one prefill by the BLAS that PyTorch and NumPy bring: the faster of the two."""

    configuration = Configuration("BLAS", "float32", "sgemm")

    def __init__(self, worker: Worker, products, repeats: int):
        self.worker, self.products, self.repeats = worker, products, repeats

    def measure(self, stage: str) -> dict[str, float]:
        if stage != "prefill":
            return {}
        rows = max(works.PROMPT_LENGTHS)
        seconds = self.worker.ask(job="sgemm", shapes=self.products.shapes, rows=rows, repeats=self.repeats)["seconds"]
        operations = 2 * rows * self.products.parameters
        return {"sgemm": max(operations / statistics.median(times) / 1e9 for times in seconds.values())}
