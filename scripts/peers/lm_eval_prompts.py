#!/usr/bin/env python3
"""Records the prompts and tokens that lm-evaluation-harness makes of our suites' items.

  lm_eval_prompts.py --model DIR --data DIR [--out FILE] [--items N]

--model is a checkpoint folder (only its tokenizer is used), --data the folder with gsm8k/, mosaic_icl/, humaneval/, mbpp/
and mbpp_plus/. The harness reads local task files over the same data, with the same shots in the same order (mbpp's are its
own), and `add_bos_token` as the tokenizer has it. What is written: item ids, token counts, and the first 16 hex digits of SHA-256 over each text (UTF-8) and each
list of ids (int32, little-endian). No text of a data set.

Needs the packages lm-eval 0.4, transformers, accelerate and torch (`pip install lm-eval[hf]`).
"""

import argparse
import ast
import gzip
import hashlib
import importlib.metadata
import json
import os
import pathlib
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import lm_eval.tasks  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
import yaml  # noqa: E402
from lm_eval.api.task import ConfigurableTask  # noqa: E402
from lm_eval.models.huggingface import HFLM  # noqa: E402

import common  # noqa: E402

HOME = pathlib.Path(__file__).resolve().parents[2]
MASK = (1 << 64) - 1


def mix64(x):
    """SplitMix64's finalizer, as common/hash.h has it."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def drawn_rows(rows, question, seed, count):
    """The rows that tasks/fewshot.h draws where no question stands twice among the best ranked."""
    ranked = sorted(range(len(rows)), key=lambda row: mix64(mix64(seed) ^ row))[:count]
    questions = [" ".join(row[question].lower().split()) for row in rows]
    assert all(questions.count(questions[row]) == 1 for row in ranked), "draw with another seed"
    return ranked


def read_rows(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class TaskFile(yaml.SafeLoader):
    """A task file of the harness without the functions it names: some of those run model-written code, or fetch."""


TaskFile.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def own_shots(utils):
    """What the function list_fewshot_samples() in the harness's file `utils` returns, read and not run."""
    tree = ast.parse((pathlib.Path(lm_eval.tasks.__file__).parent / utils).read_text())
    (function,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "list_fewshot_samples"]
    (returned,) = [node for node in function.body if isinstance(node, ast.Return)]
    return ast.literal_eval(returned.value)


def short(data):
    return hashlib.sha256(data).hexdigest()[:16]


class Recorder(HFLM):
    """The harness's own model class; what it would hand to the network is kept instead."""

    def __init__(self, folder):
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        config = transformers.LlamaConfig(vocab_size=len(tokenizer), hidden_size=8, intermediate_size=8, num_hidden_layers=1,
                                          num_attention_heads=1, max_position_embeddings=8192)
        super().__init__(pretrained=transformers.LlamaForCausalLM(config), tokenizer=tokenizer, batch_size=1, device="cpu",
                         add_bos_token=bool(getattr(tokenizer, "add_bos_token", False)))

    def _loglikelihood_tokens(self, requests, disable_tqdm=False, override_bs=None):
        self.pairs = [(context, continuation) for _, context, continuation in requests]
        return [(0.0, False) for _ in requests]

    def _model_generate(self, context, max_length, stop, **kwargs):
        ids = context[0].tolist()
        self.generated.append(ids)
        return torch.cat([context, torch.tensor([[self.eot_token_id]])], dim=1)


def make_task(own, name, rows, shots, work):
    """The harness's task `own` over `rows`, with `shots` before every item."""
    folder = pathlib.Path(lm_eval.tasks.__file__).parent
    config = yaml.load((folder / own).read_text(), TaskFile)
    if "include" in config:
        config = yaml.load((folder / own).with_name(config.pop("include")).read_text(), TaskFile) | config
    for key in ("metric_list", "filter_list", "unsafe_code",
                "dataset_name", "training_split", "validation_split", "fewshot_split", "tag", "should_decontaminate",
                "doc_to_decontamination_query"):
        config.pop(key, None)
    path = pathlib.Path(work) / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config |= {"task": name, "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(path)}},
               "test_split": "test", "num_fewshot": len(shots),
               "fewshot_config": {"sampler": "first_n", "samples": shots}}
    if "mosaic" in name:  # the wording stays, the names are the file's
        config["doc_to_text"] = config["doc_to_text"].replace("Question: {{question}}", "{{query}}")
        config |= {"doc_to_choice": "{{choices}}", "doc_to_target": "{{gold}}"}
    return ConfigurableTask(config=config)


def instances(task, lm, count, chat):
    options = {"apply_chat_template": True, "fewshot_as_multiturn": True, "chat_template": lm.apply_chat_template,
               "tokenizer_name": "recorded"} if chat else {}
    task.build_all_requests(limit=count, **options)
    return task.instances


def record_generate(lm, task, ids):
    """One entry an item: [id, hash of the prompt, number of tokens, hash of the tokens]."""
    entries = []
    for item, instance in zip(ids, instances(task, lm, len(ids), False), strict=True):
        lm.generated = []
        lm.generate_until([instance], disable_tqdm=True)
        (tokens,) = lm.generated
        entries.append([str(item), short(instance.args[0].encode()), len(tokens), common.hash_ids(tokens)])
    return entries


def record_choose(lm, task, ids, chat):
    """One entry an item: [id, hash of the context], then for each choice [number of context tokens, hash, number of
    continuation tokens, hash]."""
    entries = {}
    order = []
    all_instances = instances(task, lm, len(ids), chat)
    lm.loglikelihood(all_instances, disable_tqdm=True)
    for instance, (context, continuation) in zip(all_instances, lm.pairs, strict=True):
        if instance.doc_id not in entries:
            entries[instance.doc_id] = [str(ids[instance.doc_id]), short(instance.args[0].encode()), []]
            order.append(instance.doc_id)
        entries[instance.doc_id][2].append([len(context), common.hash_ids(context), len(continuation), common.hash_ids(continuation)])
    return [entries[doc] for doc in order]


def record_code(lm, data, count, work):
    mbpp = [row for row in read_rows(data / "mbpp" / "mbpp.jsonl") if 11 <= row["task_id"] <= 510]
    shots = own_shots("mbpp/utils.py")
    runs = []
    for suite, rows, its_shots in (
            ("humaneval", read_rows(data / "humaneval" / "HumanEval.jsonl.gz"), []),
            ("mbpp", mbpp, []), ("mbpp", mbpp, shots),
            ("mbpp_plus", read_rows(data / "mbpp_plus" / "MbppPlus-OriginFmt.jsonl.gz"), [])):
        ids = [row["task_id"] for row in rows[:count]]
        task = make_task(f"{suite.removesuffix('_plus')}/{suite}.yaml", f"{suite}_{len(its_shots)}", rows[:count], its_shots, work)
        runs.append({"suite": suite, "format": "completion", "shots": len(its_shots), "fewshot_seed": 0,
                     "shot_ids": [str(shot["task_id"]) for shot in its_shots], "stop": task.config.generation_kwargs["until"],
                     "items": record_generate(lm, task, ids)})
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=HOME / "tests" / "data" / "peers" / "lm_eval_prompts.json")
    parser.add_argument("--items", type=int, default=100)
    options = parser.parse_args()

    lm = Recorder(options.model)
    test, train = (read_rows(options.data / "gsm8k" / f"{split}.jsonl") for split in ("test", "train"))
    arc = read_rows(options.data / "mosaic_icl" / "world_knowledge" / "arc_easy.jsonl")
    runs = []
    with tempfile.TemporaryDirectory() as work:
        for shots in (0, 5):
            rows = drawn_rows(train, "question", 0, shots)
            ids = list(range(options.items))
            task = make_task("gsm8k/gsm8k.yaml", f"gsm8k_{shots}", test[:options.items], [train[row] for row in rows], work)
            runs.append({"suite": "gsm8k", "format": "completion", "shots": shots, "fewshot_seed": 0, "shot_ids": [str(row) for row in rows],
                         "stop": task.config.generation_kwargs["until"],
                         "items": record_generate(lm, task, ids)})
        runs += record_code(lm, options.data, options.items, work)
        rows = drawn_rows(arc, "query", 0, 5)
        ids = [row for row in range(len(arc)) if row not in rows][:options.items]
        for form in ("completion", "chat"):
            task = make_task("arc/arc_easy.yaml", f"mosaic_arc_easy_{form}", [arc[row] for row in ids],
                             [arc[row] for row in rows], work)
            runs.append({"suite": "arc_easy", "format": form, "shots": 5, "fewshot_seed": 0, "shot_ids": [str(row) for row in rows],
                         "items": record_choose(lm, task, ids, form == "chat")})
    recorded = {"lm_eval": importlib.metadata.version("lm_eval"),
                "tokenizer_json_sha256": hashlib.sha256((options.model / "tokenizer.json").read_bytes()).hexdigest(),
                "runs": runs}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(recorded, separators=(",", ":")).replace(',["', ',\n["').replace('},{"', '},\n{"') + "\n")
    print(f"{options.out}: {sum(len(run['items']) for run in runs)} items")


if __name__ == "__main__":
    main()
