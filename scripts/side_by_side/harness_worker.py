"""Asks a suite's items of lm-evaluation-harness with transformers in float32: one whole process, as a user runs it.

The harness's own task, model class and evaluator, over our data files and with the shots that our program draws
(scripts/peers/lm_eval_choices.py), so that both ask the same prompts. On top of that it only notes the token ids that
go into the model. Writes JSON to OUT: {"items", "prompts": sorted hashes of token ids, "texts": generated texts by
item, "scores": {metric: mean}, "versions"}.

Run: python harness_worker.py --model DIR --data DIR --suite gsm8k|arc_easy --items N --batch N --threads N --max-new N
     --out FILE
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
WORK = tempfile.TemporaryDirectory()
os.environ["HF_DATASETS_CACHE"] = WORK.name  # nothing of an earlier run is taken up
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))

import torch  # noqa: E402
from lm_eval.evaluator import evaluate  # noqa: E402
from lm_eval.models.huggingface import HFLM  # noqa: E402

from common import hash_ids  # noqa: E402
from lm_eval_choices import MOSAIC, arc, drawn_rows, make_task  # noqa: E402
from lm_eval_prompts import drawn_rows as drawn_of_other_file  # noqa: E402
from lm_eval_prompts import read_rows  # noqa: E402

SHOTS = 5


class NotingLM(HFLM):
    """The harness's own model class, which notes what it is asked."""

    def __init__(self, **options):
        super().__init__(**options)
        self.prompts = []

    def _model_generate(self, context, max_length, stop, **options):
        for ids, mask in zip(context, options["attention_mask"], strict=True):
            self.prompts.append(hash_ids(ids[mask.bool()].tolist()))
        return super()._model_generate(context, max_length, stop, **options)

    def _loglikelihood_tokens(self, requests, *arguments, **options):
        self.prompts += [hash_ids([*context, *continuation]) for _, context, continuation in requests]
        return super()._loglikelihood_tokens(requests, *arguments, **options)


def gsm8k(data: Path, items: int, max_new: int):
    test, train = (read_rows(data / "gsm8k" / f"{split}.jsonl") for split in ("test", "train"))
    shots = [train[row] for row in drawn_of_other_file(train, "question", 0, SHOTS)]
    generation = {
        "until": ["Question:", "</s>", "<|im_end|>"],
        "do_sample": False,
        "temperature": 0.0,
        "max_gen_toks": max_new,
    }
    return make_task("gsm8k/gsm8k.yaml", "gsm8k", test[:items], shots, WORK.name, {"generation_kwargs": generation})


def arc_easy(data: Path, items: int, _max_new: int):
    rows = read_rows(data / MOSAIC / "world_knowledge" / "arc_easy.jsonl")
    shots = drawn_rows(rows, "query", 0, SHOTS)
    asked = [arc(row) for number, row in enumerate(rows) if number not in shots][:items]
    return make_task("arc/arc_easy.yaml", "arc_easy", asked, [arc(rows[row]) for row in shots], WORK.name, {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("model", "data", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("items", "batch", "threads", "max-new"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--suite", choices=("gsm8k", "arc_easy"), required=True)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    task = {"gsm8k": gsm8k, "arc_easy": arc_easy}[options.suite](options.data, options.items, options.max_new)
    lm = NotingLM(pretrained=str(options.model), dtype="float32", device="cpu", batch_size=options.batch)
    found = evaluate(lm=lm, task_dict={"tasks": {options.suite: task}, "groups": {}}, bootstrap_iters=0)
    samples = {sample["doc_id"]: sample for sample in found["samples"][options.suite]}
    texts = [samples[item]["resps"][0][0] for item in sorted(samples)] if options.suite == "gsm8k" else []
    scores = {name: value for name, value in found["results"][options.suite].items() if isinstance(value, float)}
    versions = {name: importlib.metadata.version(name) for name in ("lm_eval", "torch", "transformers")}
    content = {"items": len(samples), "prompts": sorted(lm.prompts), "texts": texts, "scores": scores}
    options.out.write_text(json.dumps(content | {"versions": versions}))


if __name__ == "__main__":
    main()
