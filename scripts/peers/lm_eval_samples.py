#!/usr/bin/env python3
"""Records samples files as lm-evaluation-harness writes them, for the tests of `fullband import`.

  lm_eval_samples.py [--out DIR]

The harness runs its own tasks gsm8k and arc_easy over the first items of the bundled suites mini_gsm8k and mini_choice.
The model answers by rule, not by weights: what is recorded is the file's layout and the harness's verdicts. Written are
lm_eval_samples_gsm8k.jsonl (two lines an item, one a filter) and lm_eval_samples_choice.jsonl.
"""

import argparse
import hashlib
import json
import os
import pathlib
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import lm_eval  # noqa: E402
from lm_eval.api.model import LM  # noqa: E402
from lm_eval.loggers import EvaluationTracker  # noqa: E402

from lm_eval_prompts import TaskFile, read_rows, yaml  # noqa: E402

HOME = pathlib.Path(__file__).resolve().parents[2]
ITEMS = 12
DROPPED = ("dataset_name", "training_split", "validation_split", "fewshot_split", "tag", "should_decontaminate",
           "doc_to_decontamination_query", "fewshot_config")


class Rule(LM):
    """Every third text is right and marked, the next right but unmarked, the last wrong; log-probabilities by hash."""

    def __init__(self, answers):
        super().__init__()
        self.answers = answers

    def generate_until(self, requests, disable_tqdm=False):
        texts = []
        for row, request in enumerate(requests):
            (answer,) = [answer for question, answer in self.answers.items() if question in request.args[0]]
            final = answer.split("#### ")[1]
            texts.append([f" {answer}", f" So it is {final}.", f" It is\n#### {int(final) + row}"][row % 3])
        return texts

    def loglikelihood(self, requests, disable_tqdm=False):
        pairs = []
        for request in requests:
            digest = hashlib.sha256("\n".join(request.args).encode()).digest()
            pairs.append((-(digest[2] + 1) / 16, digest[1] % 4 == 0))
        return pairs

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError("no task here asks for it")


def task_config(own, rows, work):
    """The harness's task `own` over `rows`, as a configuration."""
    folder = pathlib.Path(lm_eval.__file__).parent / "tasks"
    config = yaml.load((folder / own).read_text(), TaskFile)
    for key in DROPPED:
        config.pop(key, None)
    path = pathlib.Path(work) / (pathlib.Path(own).stem + ".jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return config | {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(path)}},
                     "test_split": "test", "num_fewshot": 0}


def record(config, model, out, work):
    results = lm_eval.simple_evaluate(model=model, tasks=[config], log_samples=True, bootstrap_iters=0)
    name = config["task"]
    tracker = EvaluationTracker(output_path=work)
    tracker.general_config_tracker.model_name_sanitized = name
    tracker.date_id = "recorded"
    tracker.save_results_samples(task_name=name, samples=results["samples"][name])
    (written,) = (pathlib.Path(work) / name).glob("samples_*.jsonl")
    out.write_bytes(written.read_bytes())
    print(f"{out}: {len(results['samples'][name])} lines")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HOME / "tests" / "data" / "peers")
    options = parser.parse_args()
    mini = HOME / "tasks" / "mini"
    problems = read_rows(mini / "mini_gsm8k.jsonl")[:ITEMS]
    choices = read_rows(mini / "mini_choice.jsonl")[:ITEMS]
    with tempfile.TemporaryDirectory() as work:
        model = Rule({row["question"]: row["answer"] for row in problems})
        config = task_config("gsm8k/gsm8k.yaml", problems, work)
        record(config, model, options.out / "lm_eval_samples_gsm8k.jsonl", work)
        config = task_config("arc/arc_easy.yaml", choices, work) | {
            "doc_to_text": "Question: {{query}}\nAnswer:", "doc_to_choice": "{{choices}}", "doc_to_target": "{{gold}}"}
        record(config, model, options.out / "lm_eval_samples_choice.jsonl", work)


if __name__ == "__main__":
    main()
