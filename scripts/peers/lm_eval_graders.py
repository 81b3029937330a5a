#!/usr/bin/env python3
"""What lm-evaluation-harness extracts from GSM8K completions, and its verdicts, by its own classes.

  lm_eval_graders.py --record FILE       grade 400 synthetic completions into the fixture that tests compare with
  lm_eval_graders.py --record FILE --store DB
                                         the same of a store's gsm8k completions (none that repeats its question)
  lm_eval_graders.py --rewritten JSONL   grade the rewritten solutions of gsm8k_outputs.py, made of GSM8K's file, into
                                         tests/data/peers/lm_eval_gsm8k_rewritten.json: verdicts and hashes, no text
  lm_eval_graders.py --grade JSONL       read {"item", "completion", "gold"} lines, print one line of JSON for each:
                                         {"item", "strict": {"extracted", "correct"}, "flexible": {...}}

Needs the package lm-eval 0.4 (`pip install lm-eval`). Task settings are read from the package's own gsm8k.yaml.
"""

import argparse
import importlib.metadata
import json
import os
import random
import sqlite3
import sys
from pathlib import Path

import common
import gsm8k_outputs
from hashes import hash_of

SEED = 20240131
COUNT = 400


def load_peer():
    """The task's filter pipelines and metric, as lm-eval builds them from gsm8k.yaml."""
    import lm_eval
    import yaml
    from lm_eval.api.metrics import exact_match_fn
    from lm_eval.filters import build_filter_ensemble

    path = Path(lm_eval.__file__).parent / "tasks" / "gsm8k" / "gsm8k.yaml"
    config = yaml.safe_load(path.read_text())
    pipelines = {}
    for entry in config["filter_list"]:
        steps = []
        for step in entry["filter"]:
            arguments = {key: value for key, value in step.items() if key != "function"}
            steps.append([step["function"], arguments or None])
        pipelines[entry["name"]] = build_filter_ensemble(entry["name"], steps)
    metric = dict(config["metric_list"][0])
    for key in ("metric", "aggregation", "higher_is_better"):
        metric.pop(key)

    def grade(completion, gold):
        from lm_eval.api.instance import Instance

        result = {}
        for label, name in (("strict", "strict-match"), ("flexible", "flexible-extract")):
            instance = Instance("generate_until", {}, (completion, {}), 0)
            instance.resps = [completion]
            pipelines[name].apply([instance])
            extracted = instance.filtered_resps[name]
            score = exact_match_fn(predictions=[extracted], references=[gold], **metric)["exact_match"]
            result[label] = {"extracted": str(extracted), "correct": bool(score == 1.0)}
        return result

    return grade


def number_forms(rng, value):
    """One spelling of a number: often right, often a form that trips a pattern."""
    plain = str(value)
    grouped = f"{value:,}"
    return rng.choice(
        [plain] * 4
        + [grouped] * 3
        + [f"${plain}", f"${grouped}", f"{plain}.", f"{plain}.00", f"{grouped}.5", f"-{plain}", f"-${plain}", f"$-{plain}"]
        + [f"{plain}%", f"{plain}km", f"{plain}...", f"{plain},", f"\u2212{plain}", f"**{plain}**", f"\\boxed{{{plain}}}"]
        + [f"{plain}/7", f"{plain}-3", f"({plain})", f"{plain}:30", f".{plain}", f"\uff11{plain}", f"{plain}\u00bd", "seven"]
    )


def solution(rng, value):
    """A synthetic worked solution that ends in some spelling of `value`, or is spoilt in some way."""
    a = rng.randint(1, 999)
    steps = [f"First there are {number_forms(rng, a)} of them.", f"Then {a} + {value - a} = {value}.", "We add - and check."]
    rng.shuffle(steps)
    body = "\n".join(steps[: rng.randint(0, 3)])
    marker = rng.choice(["#### "] * 5 + ["####", "##### ", "#### #### ", "The answer is ", "#### Answer: ", "#### $", ""])
    tail = rng.choice([""] * 4 + ["\n", ".", ".\n", "..", " Hope this helps...", " dollars", "\n\nNote: - , . $", " $.", "-", " -5"])
    again = f"\n#### {number_forms(rng, rng.randint(0, 50))}" if rng.random() < 0.15 else ""
    return f"{body}\n{marker}{number_forms(rng, value)}{tail}{again}"


def gold(rng, value):
    plain = str(value)
    return rng.choice([plain] * 5 + [f"{value:,}"] * 2 + [f"It is {plain}.\n#### {value:,}"] * 2 + [f"{plain}.", f"${plain}", "[INVALID]"])


def cases():
    rng = random.Random(SEED)
    rows = [{"completion": text, "gold": "7"} for text in ("", " ", "#### ", "#### -", "-", "$", "$$", "-$", ",.", "7", "-7", "7\n", "#### 7\n#### 8", "[invalid]")]
    while len(rows) < COUNT:
        value = rng.choice([rng.randint(0, 20), rng.randint(0, 2000), rng.randint(1000, 9_999_999)])
        rows.append({"completion": solution(rng, value), "gold": gold(rng, value)})
    return rows


def cases_of_store(path):
    query = """SELECT items.item, samples.text, items.gold, items.prompt FROM samples
               JOIN items ON items.id = samples.item_id
               JOIN runs ON runs.id = items.run_id WHERE runs.suite = 'gsm8k' AND samples.fault = ''
               ORDER BY items.position"""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
        return [{"item": item, "completion": text, "gold": gold} for item, text, gold, prompt in store.execute(query)
                if not common.repeats(prompt.rsplit("Question: ", 1)[-1], text)]


def record(path, rows, grade):
    rows = [dict(row, **grade(row["completion"], row["gold"])) for row in rows]
    versions = {"lm_eval": importlib.metadata.version("lm_eval")}
    text = ",\n".join(json.dumps(row) for row in rows)
    Path(path).write_text(f'{{"recorded": {json.dumps(versions)},\n"cases": [\n{text}\n]}}\n')


def record_rewritten(data, grade):
    """Of each output one digit (1: strict says correct, 2: flexible, 3: both, 0: neither) and 4 hex digits of what
    the two extract; over all outputs a hash of texts and golds, which shows whether the same ones are graded."""
    outputs = list(gsm8k_outputs.outputs(Path(data)))
    verdicts, extractions = [], []
    for output in outputs:
        graded = grade(output.completion, output.gold)
        verdicts.append(str(graded["strict"]["correct"] + 2 * graded["flexible"]["correct"]))
        extractions.append(hash_of([graded["strict"]["extracted"], graded["flexible"]["extracted"]])[:4])
    common.write_fixture("lm_eval_gsm8k_rewritten.json", {
        "lm_eval": importlib.metadata.version("lm_eval"), "outputs": hash_of([[one.completion, one.gold] for one in outputs]),
        "verdicts": "".join(verdicts), "extractions": "".join(extractions)})


def grade_lines(path, grade):
    lines = sys.stdin if path == "-" else open(path, encoding="utf-8")
    for line in lines:
        row = json.loads(line)
        print(json.dumps({"item": row["item"], **grade(row["completion"], row["gold"])}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--record", metavar="FILE")
    action.add_argument("--rewritten", metavar="JSONL", help="GSM8K's test file")
    action.add_argument("--grade", metavar="JSONL", help="a file, or - for stdin")
    parser.add_argument("--store", metavar="DB", help="with --record: grade this store's gsm8k completions")
    arguments = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    grade = load_peer()
    if arguments.rewritten:
        record_rewritten(arguments.rewritten, grade)
    elif arguments.record:
        record(arguments.record, cases_of_store(arguments.store) if arguments.store else cases(), grade)
    else:
        grade_lines(arguments.grade, grade)


if __name__ == "__main__":
    main()
