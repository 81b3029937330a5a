#!/usr/bin/env python3
"""Records lm-evaluation-harness's tokens, log-probabilities and verdicts on the suites that ask by choosing, five-shot,
with SmolLM2 in float32 (see DOUBLE).

  lm_eval_choices.py --model DIR --data DIR [--items N] [--suite NAME,...] [--tokens-only]

The harness reads its own task files over our data files, whose lines are put under the names that those files use; what
differs from a task as it ships stands beside each suite in SUITES. The shots are those that our program draws. What is
written to tests/data/peers/lm_eval_choices.json: the shots' ids and, an item, its id, the first 16 hex digits of SHA-256
over the tokens of all its pairs, a log-probability a choice, acc and acc_norm (with --tokens-only none of these three). No
text of a data set. With --suite the other suites of the file stay as they are.
"""

import argparse
import csv
import importlib.metadata
import itertools
import json
import os
import pathlib
import tempfile
from collections import Counter

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import lm_eval.tasks  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from lm_eval.api.task import ConfigurableTask  # noqa: E402
from lm_eval.models.huggingface import HFLM  # noqa: E402
from lm_eval.tasks._yaml_loader import load_yaml  # noqa: E402

import common  # noqa: E402
from lm_eval_prompts import mix64, read_rows  # noqa: E402

FIXTURE = "lm_eval_choices.json"
MOSAIC = "mosaic_icl"
LETTERS = ["A", "B", "C", "D"]
# Suites whose numbers the harness computes in float64: over continuations of a hundred tokens its float32 adds up to
# 1e-3 of rounding, as much as is allowed between the programs (ours, in float32, stays within 2e-4 of the float64 sums).
DOUBLE = {"piqa"}
# Of the task files: where the data are, which are ours here.
DROPPED = ("dataset_name", "training_split", "validation_split", "fewshot_split", "tag", "should_decontaminate",
           "doc_to_decontamination_query", "process_docs", "task_alias", "include")
# The queries of the two reduced sets list their choices themselves, so that the harness's wording does not fit.
AS_IT_STANDS = {"doc_to_text": "{{query}}", "doc_to_choice": "{{choices}}", "doc_to_target": "{{gold}}"}


def listed(row):
    """`choices` and `answerKey` as the ARC and OpenBookQA tasks name them."""
    letters = [chr(ord("A") + i) for i in range(len(row["choices"]))]
    return {"choices": {"text": row["choices"], "label": letters}, "answerKey": letters[row["gold"]]}


def arc(row):
    return {"question": row["query"].removeprefix("Question: "), **listed(row)}


def piqa(row):
    return {"goal": row["query"].removeprefix("Question: ").removesuffix("\n"), "sol1": row["choices"][0], "sol2": row["choices"][1],
            "label": row["gold"]}


def boolq(row):
    passage, question = row["query"].removeprefix("Passage: ").rsplit("\nQuestion: ", 1)
    return {"passage": passage, "question": question.removesuffix("?"), "label": row["gold"]}


def copa(row):
    premise, connector = row["query"].rsplit(", ", 1)
    return {"premise": premise + ".", "question": {"because": "cause", "therefore": "effect"}[connector],
            "choice1": row["choices"][0], "choice2": row["choices"][1], "label": row["gold"]}


def winogrande(row):
    return {"sentence": "_ " + row["continuation"], "option1": row["context_options"][0], "option2": row["context_options"][1],
            "answer": str(row["gold"] + 1)}


def winograd(row):
    """The text behind the pronoun begins with its space, as in the original."""
    return {"text": " " + row["continuation"], "pronoun": "", "pronoun_loc": 0, "options": row["context_options"], "label": row["gold"]}


def lambada(row):
    return {"text": row["context"] + " " + row["continuation"]}


# Suite: the harness's task file, the data file, what makes a question, the row under the task's names, changes.
SUITES = {
    "arc_easy": ("arc/arc_easy.yaml", "world_knowledge/arc_easy.jsonl", "query", arc, {}),
    "arc_challenge": ("arc/arc_challenge.yaml", "world_knowledge/arc_challenge.jsonl", "query", arc, {}),
    "piqa": ("piqa/piqa.yaml", "commonsense_reasoning/piqa.jsonl", "query", piqa, {}),
    "openbook_qa": ("openbookqa/openbookqa.yaml", "commonsense_reasoning/openbook_qa.jsonl", "query",
                    lambda row: {"question_stem": row["query"], **listed(row)}, {}),
    "winogrande": ("winogrande/default.yaml", "language_understanding/winogrande.jsonl", "context_options", winogrande, {}),
    "winograd": ("wsc273/default.yaml", "language_understanding/winograd_wsc.jsonl", "context_options", winograd, {}),
    "copa": ("super_glue/copa/default.yaml", "commonsense_reasoning/copa.jsonl", "query", copa, {}),
    "commonsense_qa_mosaic": ("commonsense_qa/default.yaml", "commonsense_reasoning/commonsense_qa.jsonl", "query", dict, AS_IT_STANDS),
    "siqa_mosaic": ("siqa/siqa.yaml", "commonsense_reasoning/siqa.jsonl", "query", dict, AS_IT_STANDS),
    "mmlu": None,  # by subjects
    # The shots' target has a space of its own, and a second one would stand before it.
    "lambada": ("lambada/lambada_openai.yaml", "language_understanding/lambada_openai.jsonl", "context", lambada, {"target_delimiter": ""}),
    # The file's lines are what the task's preprocessing makes, but for a capital letter.
    "hellaswag": ("hellaswag/hellaswag.yaml", "hellaswag/hellaswag_val.derived.jsonl", "query",
                  lambda row: {"query": row["query"], "choices": row["choices"], "label": str(row["gold"])}, {}),
    "boolq": ("super_glue/boolq/default.yaml", "reading_comprehension/boolq.jsonl", "query", boolq, {}),
}


def drawn_rows(rows, key, seed, count):
    """The rows that tasks/fewshot.h draws from the asked items themselves: none whose question stands there twice."""
    texts = [" ".join(row[key]) if isinstance(row[key], list) else row[key] for row in rows]
    questions = [" ".join(text.lower().split()) for text in texts]
    times = Counter(questions)
    ranked = sorted(range(len(rows)), key=lambda row: mix64(mix64(seed) ^ row))
    return [row for row in ranked if times[questions[row]] == 1][:count]


class CachingLM(HFLM):
    """The harness's own model class, which does not run again what a prompt has in common with
    the one before."""

    def __init__(self, folder, tokens_only, dtype=torch.float32):
        self.tokens_only = tokens_only
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
        super().__init__(pretrained=model, tokenizer=tokenizer, batch_size=1, device="cpu",
                         add_bos_token=bool(getattr(tokenizer, "add_bos_token", False)))
        self.seen, self.cache = [], transformers.DynamicCache(config=model.config)

    def _loglikelihood_tokens(self, requests, disable_tqdm=False, override_bs=None):
        """Item by item, so that what the choices of one have in common is run once."""
        self.pairs = [(context, continuation) for _, context, continuation in requests]
        if self.tokens_only:
            return [(0.0, False)] * len(requests)
        results = []
        for _, group in itertools.groupby(requests, key=lambda request: request[1]):
            group = list(group)
            self.keep = max(len(continuation) for _, _, continuation in group)  # positions whose logits are read
            results += super()._loglikelihood_tokens(group, True, override_bs)
        return results

    def _model_call(self, inps, attn_mask=None, labels=None):
        """Logits [1, T, vocabulary]; those of the common beginning, which nobody reads, are 0."""
        ids = inps[0].tolist()
        same = 0
        while same < min(len(ids) - self.keep, len(self.seen)) and ids[same] == self.seen[same]:
            same += 1
        if same < len(self.seen):
            self.cache.crop(same - len(self.seen))
        with torch.no_grad():
            logits = self.model(inps[:, same:], past_key_values=self.cache).logits
        self.seen = ids
        whole = torch.zeros((1, len(ids), logits.shape[-1]), dtype=logits.dtype)
        whole[:, same:] = logits
        return whole


def make_task(own, name, rows, shots, work, changes):
    folder = pathlib.Path(lm_eval.tasks.__file__).parent
    config = dict(load_yaml(folder / own))
    for key in DROPPED:
        config.pop(key, None)
    path = pathlib.Path(work) / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config |= {"task": name, "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(path)}}, "test_split": "test",
               "num_fewshot": len(shots), "fewshot_config": {"sampler": "first_n", "samples": shots}}
    return ConfigurableTask(config=config | changes)


def record(lm, task, rows, ids):
    """One entry an item: [id, hash of its tokens, [log-probability a choice], acc, acc_norm or null]."""
    task.build_all_requests(limit=len(rows))
    results = lm.loglikelihood(task.instances, disable_tqdm=True)
    by_item = {}
    for instance, result, pair in zip(task.instances, results, lm.pairs, strict=True):
        by_item.setdefault(instance.doc_id, []).append((result, pair))
    entries = []
    for doc_id, item in enumerate(ids):
        flat = []
        for _, (context, continuation) in by_item[doc_id]:
            flat += [len(context), *context, len(continuation), *continuation]
        results = [result for result, _ in by_item[doc_id]]
        if lm.tokens_only:
            entries.append([item, common.hash_ids(flat)])
            continue
        verdict = task.process_results(rows[doc_id], results)
        norm = verdict.get("acc_norm")
        entries.append([item, common.hash_ids(flat), [round(float(logprob), 5) for logprob, _ in results], int(verdict["acc"]),
                        None if norm is None else int(norm)])
    return entries


def record_suite(lm, name, data, count, work):
    own, path, key, convert, changes = SUITES[name]
    rows = read_rows(data / (path if path.startswith("hellaswag") else f"{MOSAIC}/{path}"))
    shots = drawn_rows(rows, key, 0, 5)
    taken = set(shots)
    asked = [row for row in range(len(rows)) if row not in taken][:count]
    converted = [convert(rows[row]) for row in asked]
    task = make_task(own, f"own_{name}", converted, [convert(rows[row]) for row in shots], work, changes)
    return {"shot_ids": [str(row) for row in shots], "items": record(lm, task, converted, [str(row) for row in asked])}


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [{"question": row["question"], "choices": [row[f"choice{i}"] for i in range(4)], "answer": int(row["answer"])}
                for row in csv.DictReader(file)]


def record_mmlu(lm, data, count, work):
    """Of each subject the first items, in turn, after the first five of its dev split."""
    subjects = sorted(path.name.removesuffix("_test.csv") for path in (data / "mmlu" / "test").glob("*_test.csv"))
    shares = [count // len(subjects) + (i < count % len(subjects)) for i in range(len(subjects))]
    recorded = {"shot_ids": [], "items": []}
    for subject, share in zip(subjects, shares, strict=True):
        shots = read_table(data / "mmlu" / "dev" / f"{subject}_dev.csv")
        recorded["shot_ids"] += [f"{subject}/{row}" for row in range(len(shots))]
        if share == 0:
            continue
        rows = read_table(data / "mmlu" / "test" / f"{subject}_test.csv")[:share]
        task = make_task(f"mmlu/default/mmlu_{subject}.yaml", f"own_mmlu_{subject}", rows, shots, work, {})
        recorded["items"] += record(lm, task, rows, [f"{subject}/{row}" for row in range(share)])
    return recorded


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path, default=common.SMOLLM2)
    parser.add_argument("--data", type=pathlib.Path, default=common.DATASETS)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--tokens-only", action="store_true", help="record no log-probabilities and verdicts: a minute, not twenty")
    parser.add_argument("--suite", default=",".join(SUITES))
    options = parser.parse_args()
    models = {}
    present = common.PEER_DATA / FIXTURE
    recorded = json.loads(present.read_text())["suites"] if present.exists() else {}
    for name in options.suite.split(","):
        dtype = torch.float64 if name in DOUBLE and not options.tokens_only else torch.float32
        if dtype not in models:
            models[dtype] = CachingLM(options.model, options.tokens_only, dtype)
        lm = models[dtype]
        with tempfile.TemporaryDirectory() as work:
            recorded[name] = record_mmlu(lm, options.data, options.items, work) if name == "mmlu" \
                else record_suite(lm, name, options.data, options.items, work)
        # Suite by suite, so that a stopped recording keeps what it has.
        common.write_fixture(FIXTURE, {"lm_eval": importlib.metadata.version("lm_eval"), "shots": 5, "fewshot_seed": 0, "suites": recorded})


if __name__ == "__main__":
    main()
