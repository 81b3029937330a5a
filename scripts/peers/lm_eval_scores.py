#!/usr/bin/env python3
"""Records lm-evaluation-harness's log-probabilities and verdicts on arc_easy, five-shot, with SmolLM2 in float32.

  lm_eval_scores.py --model DIR --data DIR [--items N]

The task and its shots are those of lm_eval_prompts.py. What is written: item ids, a log-probability a choice, acc and
acc_norm an item. No text of a data set.
"""

import argparse
import importlib.metadata
import pathlib
import tempfile

import torch
import transformers
from lm_eval.models.huggingface import HFLM

import common
import lm_eval_prompts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path, default=common.SMOLLM2)
    parser.add_argument("--data", type=pathlib.Path, default=common.DATASETS)
    parser.add_argument("--items", type=int, default=100)
    options = parser.parse_args()

    tokenizer = transformers.AutoTokenizer.from_pretrained(options.model)
    model = transformers.AutoModelForCausalLM.from_pretrained(options.model, torch_dtype=torch.float32)
    lm = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=1, device="cpu", add_bos_token=bool(getattr(tokenizer, "add_bos_token", False)))
    arc = lm_eval_prompts.read_rows(options.data / "mosaic_icl" / "world_knowledge" / "arc_easy.jsonl")
    shots = lm_eval_prompts.drawn_rows(arc, "query", 0, 5)
    ids = [row for row in range(len(arc)) if row not in shots][: options.items]
    with tempfile.TemporaryDirectory() as work:
        task = lm_eval_prompts.make_task("arc/arc_easy.yaml", "mosaic_arc_easy", [arc[row] for row in ids], [arc[row] for row in shots], work)
        instances = lm_eval_prompts.instances(task, lm, len(ids), False)
        results = lm.loglikelihood(instances)
    by_item = {}
    for instance, result in zip(instances, results, strict=True):
        by_item.setdefault(instance.doc_id, []).append(result)
    items = []
    for doc_id, row in enumerate(ids):
        verdict = task.process_results(arc[row], by_item[doc_id])
        items.append({"item": str(row), "logprobs": [round(float(logprob), 6) for logprob, _ in by_item[doc_id]],
                      "acc": float(verdict["acc"]), "acc_norm": float(verdict["acc_norm"])})
    common.write_fixture("lm_eval_arc_easy.json", {"lm_eval": importlib.metadata.version("lm_eval"), "shots": 5, "fewshot_seed": 0, "items": items})


if __name__ == "__main__":
    main()
