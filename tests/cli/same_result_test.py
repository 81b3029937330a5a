"""One result, however the program schedules its work: the stores of `fullband run` are equal byte for byte.

Run: python3 same_result_test.py PROGRAM [--model DIR]

Two random latent checkpoints answer mini_gsm8k (greedy and sampled) and mini_choice under several settings, with
every way of scheduling in WAYS. What a store has of each item and sample (tokens, text, log-probabilities,
runners-up, stop reasons, choices, grades) must equal the baseline's bytes. With --model the same is asked of a
checkpoint of the user's own, on few items and under the settings that it can run.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import os
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

try:
    import numpy  # noqa: F401
except ImportError:
    print("NumPy is missing (run scripts/setup); skipped")
    sys.exit(77)

import tiny
from tiny import checkpoints

BASELINE = ("--batch", "4", "--threads", "1", "--chunk", "64")
WAYS = {
    "batch 1": ("--batch", "1", "--threads", "1", "--chunk", "64"),
    "batch 3": ("--batch", "3", "--threads", "1", "--chunk", "64"),
    "batch 16": ("--batch", "16", "--threads", "1", "--chunk", "64"),
    "threads 2": ("--batch", "4", "--threads", "2", "--chunk", "64"),
    "chunk 16": ("--batch", "4", "--threads", "1", "--chunk", "16"),
    "chunk 128": ("--batch", "4", "--threads", "1", "--chunk", "128"),
    "shuffled": (*BASELINE, "--shuffle", "1"),
    "batch auto": ("--batch", "auto", "--threads", "1"),
    "prefix cache off": (*BASELINE, "--prefix-cache", "off"),
    "prefix cache tiny": (*BASELINE, "--prefix-cache", "256K"),
    "all at once": ("--batch", "16", "--threads", "2", "--chunk", "128", "--shuffle", "7"),
    "odd numbers": ("--batch", "7", "--threads", "2", "--chunk", "13", "--shuffle", "2"),
}
# Of a width that is no multiple of a vector, and wide enough for several tiles of a matrix product.
SHAPES = (
    checkpoints.Shape("narrow", width=36, inner=52, heads=2, groups=1, vocab=3100,
                      extra={"max_position_embeddings": 2048}),
    checkpoints.Shape("wide", fusion="additive", dtypes=("BF16",), width=160, inner=296, heads=5, groups=5, tied=False,
                      vocab=3100, extra={"max_position_embeddings": 2048}),
)


@dataclass(frozen=True)
class Question:
    """One command but for the model, the way of scheduling and the store."""

    name: str
    words: tuple[str, ...]


def questions(greedy: str, drawn: str, scored: str, limit: int, new: int) -> list[Question]:
    common = ("--limit", str(limit), "--shots", "1")
    generate = ("--suite", "mini_gsm8k", "--max-new", str(new), "--stop", "ou", *common, "--setting")
    sampled = ("--temperature", "0.8", "--samples", "2", "--seed", "5", "--top-k", "50", "--top-p", "0.95")
    return [
        Question("greedy", (*generate, greedy)),
        Question("sampled", (*generate, drawn, *sampled)),
        Question("choices", ("--suite", "mini_choice", *common, "--setting", scored)),
    ]


RANDOM = questions("standard,latent@2,latent@exact,latent:stale", "latent,latent@2,standard@2",
                   "standard,latent,latent@exact,parallel@2", limit=18, new=12)
REAL = questions("standard", "standard", "standard", limit=4, new=16)


def run(program: str, model: Path, words: tuple[str, ...], store: Path) -> Path:
    command = [program, "run", "--quiet", "--model", str(model), *words, "--store", str(store)]
    # Threads that spin while they wait would stall each other on a busy machine.
    environment = os.environ | {"HOME": str(store.parent), "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr}")
    return store


SAMPLES = """
  SELECT suite, setting, runs.key, item, sample, samples.id AS id, fault, samples.text AS text, stop_reason, tokens,
    text_ends, logprobs, runner_ups, runner_up_logprobs, prompt_tokens, generated_tokens, trace_tokens,
    prefill_forwards + saved_forwards AS positions, decode_forwards, min_state_rms, max_state_rms, content_sha256
  FROM samples JOIN items ON items.id = item_id JOIN runs ON runs.id = run_id"""


def content(store: Path) -> dict[tuple, dict]:
    """What a store has of each sample, by suite, setting, item and sample: all but times and the cache's savings."""
    database = sqlite3.connect(store)
    database.row_factory = sqlite3.Row
    samples = {}
    for row in database.execute(SAMPLES):
        sample = dict(row)
        key = (sample["suite"], sample["setting"], sample["item"], sample["sample"])
        sample_id = sample.pop("id")
        for table, order in (("choices", "choice"), ("grades", "grader")):
            rows = database.execute(f"SELECT * FROM {table} WHERE sample_id = ? ORDER BY {order}", (sample_id,))
            sample[table] = [{k: v for k, v in dict(r).items() if k != "sample_id"} for r in rows]
        assert key not in samples, f"{key} is there twice"
        samples[key] = sample
    database.close()
    return samples


def differences(left: dict[tuple, dict], right: dict[tuple, dict]) -> list[str]:
    wrong = [f"{key} is in one store only" for key in left.keys() ^ right.keys()]
    for key in left.keys() & right.keys():
        columns = [column for column in left[key] if left[key][column] != right[key][column]]
        if columns:
            wrong.append(f"{key}: {', '.join(columns)} differ")
    return sorted(wrong)


def telling(question: Question, samples: dict[tuple, dict]) -> list[str]:
    """A baseline that has little in it would let any fault pass."""
    wrong = [f"{key}: {s['fault']}" for key, s in samples.items() if s["fault"]]
    if question.name == "choices":
        if len({c["logprobs"] for s in samples.values() for c in s["choices"]}) < len(samples):
            wrong.append("most choices have the same log-probabilities")
        return wrong
    if len({s["tokens"] for s in samples.values()}) < len(samples) // 2:
        wrong.append("most traces are the same")
    if len({s["stop_reason"] for s in samples.values()}) < 2 or len({s["trace_tokens"] for s in samples.values()}) < 3:
        wrong.append("all traces end in the same way")
    return wrong


def check_faults(program: str, model: Path, question: Question, baseline: Path, folder: Path) -> list[str]:
    """The comparison must notice one changed bit, a lost grade, another seed and another setting."""
    missed, good = [], content(baseline)

    def spoiled(statement: str) -> dict[tuple, dict]:
        copy = folder / "spoiled.db"
        copy.unlink(missing_ok=True)
        with sqlite3.connect(baseline) as source, sqlite3.connect(copy) as target:
            source.backup(target)
            assert target.execute(statement).rowcount == 1
        source.close(), target.close()
        return content(copy)

    one = "WHERE id = (SELECT MAX(id) FROM samples)"
    last_bit = "substr(logprobs, 1, 4) || CAST(x'01' AS BLOB) || substr(logprobs, 6)"
    for name, statement in {
        "a changed log-probability": f"UPDATE samples SET logprobs = CAST({last_bit} AS BLOB) {one}",
        "a changed text": f"UPDATE samples SET text = text || ' ' {one}",
        "a lost grade": "DELETE FROM grades WHERE (sample_id, grader) = (SELECT sample_id, grader FROM grades LIMIT 1)",
    }.items():
        if not differences(good, spoiled(statement)):
            missed.append(name)
    seed = question.words.index("--seed") + 1
    other_seed = (*question.words[:seed], "6", *question.words[seed + 1 :])
    other = content(run(program, model, (*other_seed, *BASELINE), folder / "seed.db"))
    same = [key for key in good if good[key]["tokens"] == other[key]["tokens"]]
    if len(same) > len(good) // 2:
        missed.append(f"another seed ({len(same)} of {len(good)} traces are the same)")
    by_setting: dict[str, list] = {}
    for (_, setting, item, sample), row in sorted(good.items()):
        by_setting.setdefault(setting, []).append((item, sample, row["tokens"], row["logprobs"]))
    for setting, rows in by_setting.items():
        if [s for s, other_rows in by_setting.items() if other_rows == rows] != [setting]:
            missed.append(f"another setting than {setting}")
    return missed


def check(program: str, model: Path, question: Question, folder: Path, plant: bool) -> list[str]:
    folder.mkdir()
    baseline_store = run(program, model, (*question.words, *BASELINE), folder / "baseline.db")
    baseline = content(baseline_store)
    wrong = telling(question, baseline) if plant else []
    for number, (name, words) in enumerate(WAYS.items()):
        store = run(program, model, (*question.words, *words), folder / f"{number}.db")
        wrong += [f"{name}: {line}" for line in differences(baseline, content(store))[:3]]
    # A run that is cut short and goes on later, otherwise scheduled.
    limit = question.words.index("--limit") + 1
    part = (*question.words[:limit], str(int(question.words[limit]) // 2), *question.words[limit + 1 :])
    run(program, model, (*part, *WAYS["odd numbers"]), folder / "resumed.db")
    resumed = run(program, model, (*question.words, *WAYS["batch 16"]), folder / "resumed.db")
    wrong += [f"resumed: {line}" for line in differences(baseline, content(resumed))[:3]]
    if plant and question.name == "sampled":
        missed = check_faults(program, model, question, baseline_store, folder)
        wrong += [f"planted fault goes unnoticed: {name}" for name in missed]
    print(f"{folder.name}: {len(baseline)} samples, {len(WAYS) + 1} ways, {len(wrong)} differences", flush=True)
    return [f"{folder.name}: {line}" for line in wrong]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--model", type=Path)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    if options.model and not (options.model / "config.json").exists():
        print(f"{options.model} is not there (scripts/fetch_smollm2 makes it); skipped")
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        if options.model:
            jobs = [(program, options.model, question, root / question.name, False) for question in REAL]
        else:
            models = [tiny.model(root / "models" / shape.name, shape, "qwen_kind") for shape in SHAPES]
            jobs = [(program, model, question, root / f"{model.name} {question.name}", True)
                    for model in models for question in RANDOM]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            wrong = [line for lines in pool.map(lambda job: check(*job), jobs) for line in lines]
    for line in wrong:
        print(f"FAILED {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
