#!/usr/bin/env python3
"""Records the verdicts of the library math-verify, called as its own documentation does, and of lm-evaluation-harness's
own comparison of MATH answers (is_equiv of its hendrycks_math tasks).

  math_verify_verdicts.py --rewritten JSONL [--store DB]

On the rewritten answers of math_outputs.py, made of MATH-500's file, and on the math500 completions of a store. What is
written to tests/data/peers/math_verify.json: a digit an output (1: math-verify says correct, 2: lm-evaluation-harness
does, which is asked about the answer as it stands in the box), a hash over all outputs; of a store the model's own
texts, each with the verdict and what the library extracted, but none that repeats its problem at length.
"""

import argparse
import importlib.metadata
import json
import logging
import sqlite3
from pathlib import Path

import common
import math_outputs
from hashes import hash_of
from lm_eval.tasks.hendrycks_math.utils import is_equiv
from math_verify import parse, verify

FIXTURE = "math_verify.json"


def library(completion, gold):
    """(correct, the text that was extracted). A gold answer is put in a box, as the solutions have it."""
    answer = parse(completion)
    strings = [part for part in answer if isinstance(part, str)]
    return bool(verify(parse(f"\\boxed{{{gold}}}"), answer)), strings[0] if strings else ""


def rewritten(file):
    verdicts, pairs = [], []
    for _, _, completion, gold, answer in math_outputs.outputs(file):
        pairs.append((completion, gold))
        verdicts.append(str(library(completion, gold)[0] + 2 * bool(is_equiv(answer, gold))))
    return {"outputs": hash_of(pairs), "verdicts": "".join(verdicts)}


def of_store(path, file):
    problems = {row["unique_id"]: row for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())}
    query = """SELECT items.item, samples.text FROM samples JOIN items ON items.id = samples.item_id
               JOIN runs ON runs.id = items.run_id WHERE runs.suite = 'math500' AND samples.fault = ''
               ORDER BY items.position"""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
        rows = store.execute(query).fetchall()
    return [
        [item, text, *library(text, problems[item]["answer"])]
        for item, text in rows
        if not common.repeats(problems[item]["problem"], text)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rewritten", metavar="JSONL", type=Path, required=True, help="MATH-500's file")
    parser.add_argument("--store", metavar="DB", help="record this store's math500 completions, too")
    arguments = parser.parse_args()
    logging.getLogger("math_verify").setLevel(logging.CRITICAL)
    path = common.PEER_DATA / FIXTURE
    content = json.loads(path.read_text()) if path.exists() else {"model_outputs": []}
    content |= {
        "math_verify": importlib.metadata.version("math-verify"),
        "lm_eval": importlib.metadata.version("lm_eval"),
        **rewritten(arguments.rewritten),
    }
    if arguments.store:
        content["model_outputs"] = of_store(arguments.store, arguments.rewritten)
    common.write_fixture(FIXTURE, content)


if __name__ == "__main__":
    main()
