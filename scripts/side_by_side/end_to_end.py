"""Whole suites, from the start of a process to its end: `fullband run` and lm-evaluation-harness with transformers in
float32, both from the same bfloat16 checkpoint."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from pathlib import Path

import works
from common import hash_ids
from engine import Configuration, Engine, run, token_ids
from fault import Fault
from prepare import SCRIPTS


class FullbandSuites(Engine):
    """`fullband run` into a new store: reads weights, data and tokenizer, asks, grades, stores."""

    configuration = Configuration(works.FULLBAND, "bfloat16", "bfloat16 checkpoint")

    def __init__(self, setup, items: dict[str, int], threads: int, batch: str | None, record: dict):
        self.setup, self.items, self.threads, self.batch, self.record = setup, items, threads, batch, record

    def measure(self, stage: str) -> dict[str, float]:
        if stage not in works.END_TO_END:
            return {}
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "store.db"
            command = [
                self.setup.program,
                "run",
                "--model",
                self.setup.model,
                "--suite",
                stage,
                "--setting",
                "standard",
                "--shots",
                5,
                "--limit",
                self.items[stage],
                "--threads",
                self.threads,
                "--data-dir",
                self.setup.data,
                "--store",
                store,
                "--quiet",
            ]
            command += ["--max-new", works.MAX_NEW] if stage == "gsm8k" else []
            command += ["--batch", self.batch] if self.batch else []
            _, seconds = run(command)
            self.record[stage] = read_store(store, stage)
        if self.record[stage]["items"] != self.items[stage]:
            raise Fault(
                "fullband run", f"asked {self.record[stage]['items']} items of {stage}, not {self.items[stage]}"
            )
        return {stage: self.items[stage] / seconds}


def read_store(path, stage: str) -> dict:
    """{"items", "prompts": [text], "choices": [[text] by item], "texts", "scores"} of the one run in a store."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        samples = database.execute(
            "SELECT samples.id, prompt, text, generated_tokens FROM samples JOIN items ON "
            "items.id = item_id WHERE fault = '' ORDER BY position"
        ).fetchall()
        choices = [
            [
                text
                for (text,) in database.execute(
                    "SELECT text FROM choices WHERE sample_id = ? ORDER BY choice", (sample[0],)
                )
            ]
            for sample in samples
        ]
        scores = dict(database.execute("SELECT grader, AVG(score) FROM grades GROUP BY grader"))
    finally:
        database.close()
    return {
        "items": len(samples),
        "prompts": [prompt for _, prompt, _, _ in samples],
        "choices": choices,
        "texts": [text for _, _, text, _ in samples] if stage == "gsm8k" else [],
        "generated": sum(count for _, _, _, count in samples),
        "scores": scores,
    }


class Harness(Engine):
    def __init__(self, setup, batch: int, items: dict[str, int], threads: int, record: dict):
        self.configuration = Configuration(works.HARNESS, "float32", f"transformers float32, batch {batch}")
        self.setup, self.batch, self.items, self.threads, self.record = setup, batch, items, threads, record

    def measure(self, stage: str) -> dict[str, float]:
        if stage not in works.END_TO_END:
            return {}
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out.json"
            _, seconds = run(
                [
                    self.setup.peers_python,
                    "-W",
                    "ignore",
                    SCRIPTS / "side_by_side/harness_worker.py",
                    "--model",
                    self.setup.model,
                    "--data",
                    self.setup.data,
                    "--suite",
                    stage,
                    "--items",
                    self.items[stage],
                    "--batch",
                    self.batch,
                    "--threads",
                    self.threads,
                    "--max-new",
                    works.MAX_NEW,
                    "--out",
                    out,
                ]
            )
            found = self.record.setdefault(stage, {})[self.configuration.name] = json.loads(out.read_text())
        return {stage: found["items"] / seconds}


def asked_by_fullband(setup, stage: str, asked: dict) -> list[str]:
    """Sorted hashes over the token ids that Fullband's prompts (before every choice) are, by `fullband tokenize`."""
    texts = asked["prompts"]
    if stage == "arc_easy":
        texts = [prompt + choice for prompt, choices in zip(texts, asked["choices"], strict=True) for choice in choices]
    return sorted(hash_ids(ids) for ids in token_ids(setup, texts))


def compare(stage: str, ours: list[str], theirs: dict[str, dict]) -> None:
    """Throws Fault where a run of the harness was not asked the very token ids that Fullband was."""
    for name, found in theirs.items():
        if found["prompts"] != ours:
            differing = len(set(ours) ^ set(found["prompts"]))
            raise Fault(
                f"{works.HARNESS}, {name}",
                f"was not asked the same token ids in {stage} ({differing} prompts that only "
                "one side has, of both), so that the times do not compare",
            )


def agreement(ours: dict, theirs: dict[str, dict]) -> dict:
    """What else shows that both did the same work: equal texts, scores."""
    texts = {
        name: sum(a.strip() == b.strip() for a, b in zip(ours["texts"], found["texts"], strict=True))
        for name, found in theirs.items()
        if found["texts"]
    }
    return {
        "items": ours["items"],
        "generated_tokens": ours["generated"],
        "same_texts": texts,
        "scores": {works.FULLBAND: ours["scores"], **{name: found["scores"] for name, found in theirs.items()}},
    }
