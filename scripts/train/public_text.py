#!/usr/bin/env python3
"""GSM8K's and MBPP's training splits as training documents, worded as the suites ask them.

    scripts/train/python public_text --data DIR --out DIR [--seed 1]

DIR has gsm8k/train.jsonl and mbpp/mbpp.jsonl. Writes gsm8k.jsonl and mbpp.jsonl, and beside each NAME.held_out.jsonl of
problems that are in none of the training documents. Every document is some solved problems in a row, as a prompt with
as many shots as the suite may have and its answer, and the loss is on all of the answers.
"""
import argparse
import json
import re
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from data import DataError, generator  # noqa: E402

TASKS = Path(__file__).resolve().parents[2] / "tasks"
GSM8K_HELD_OUT = 200  # the last problems of its training split
# MBPP's own splits, by task_id; 11 to 510 are its test split and never read.
MBPP_TRAIN, MBPP_HELD_OUT = range(601, 975), range(511, 601)
MBPP_QUESTION, MBPP_SEPARATOR = '"""\n{text}\n{tests}\n"""\n', "\n\n"
# Nearly all such documents fit in a row of 1,024 tokens (2.8 characters each, in mathematics).
CHARACTERS = 2600


def read_lines(path, fields):
    """The objects of a JSONL file, which all have these text fields (a list where the name ends in _list)."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as fault:
        raise DataError(f"{path}: {fault.strerror}") from None
    out = []
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line)
            wrong = [f for f in fields if not isinstance(value[f], list if f.endswith("_list") else str)]
        except (ValueError, KeyError, TypeError) as fault:
            raise DataError(f"{path}:{number}: is no item of this data set: {fault!r}") from None
        if wrong:
            raise DataError(f"{path}:{number}: {wrong[0]} is of another type")
        out.append(value)
    if not out:
        raise DataError(f"{path}: is empty")
    return out


def fill(template, fields):
    """A suite's template with its {field}s put in; what they hold is taken as it is."""
    return re.sub(r"\{(\w+)\}", lambda match: fields[match[1]], template)


def gsm8k_wording():
    """(question, answer, separator): templates of tasks/gsm8k.toml."""
    wording = tomllib.loads((TASKS / "gsm8k.toml").read_text(encoding="utf-8"))["completion"]
    return wording["question"], wording["answer"], wording["separator"]


def gsm8k_pairs(items):
    """(prompt, answer) of each problem, as the suite words them."""
    question, answer, _ = gsm8k_wording()
    return [(fill(question, item), fill(answer, item)) for item in items]


def mbpp_pairs(items):
    pairs = []
    for item in items:
        tests = "\n".join(test.strip() for test in item["test_list"])
        text = fill(MBPP_QUESTION, {"text": item["text"].strip(), "tests": tests.replace("\r\n", "\n")})
        # Some of the solutions have tabs and carriage returns; Python reads both ways, a model should learn one.
        code = item["code"].replace("\r\n", "\n").expandtabs(4)
        pairs.append((text, "\n".join(line.rstrip() for line in code.strip().splitlines()) + "\n"))
    return pairs


def turns_of(pairs, separator):
    """A document's turns: the pairs in a row, joined as a prompt with shots is."""
    return [[(separator if i else "") + prompt, answer] for i, (prompt, answer) in enumerate(pairs)]


def documents(pairs, most_shots, separator, random, characters=CHARACTERS):
    """One document for each pair, in order, with it as the last and 0 to `most_shots` drawn others before it; fewer
    where they would be longer than `characters`."""
    for i, last in enumerate(pairs):
        count = min(int(random.integers(0, most_shots + 1)), len(pairs) - 1)
        chosen = [pairs[j + (j >= i)] for j in random.choice(len(pairs) - 1, count, replace=False)]
        while chosen and sum(len(p) + len(a) for p, a in chosen + [last]) > characters:
            chosen.pop(0)
        yield {"turns": turns_of(chosen + [last], separator)}


def split_gsm8k(folder):
    """(training problems, held-out ones) of gsm8k/train.jsonl."""
    items = read_lines(Path(folder) / "gsm8k" / "train.jsonl", ("question", "answer"))
    held_out = min(GSM8K_HELD_OUT, len(items) // 4)
    return items[:len(items) - held_out], items[len(items) - held_out:]


def split_mbpp(folder):
    file = Path(folder) / "mbpp" / "mbpp.jsonl"
    items = read_lines(file, ("text", "code", "test_list"))
    parts = [[item for item in items if item.get("task_id") in ids] for ids in (MBPP_TRAIN, MBPP_HELD_OUT)]
    if not all(parts):
        raise DataError(f"{file}: has no items of the splits, task_id {MBPP_TRAIN} and {MBPP_HELD_OUT}")
    return parts


def write_lines(path, values):
    """Whole or not there. Returns how many lines."""
    draft, count = path.with_name(f".{path.name}.tmp"), 0
    with open(draft, "w", encoding="utf-8", newline="\n") as file:
        for value in values:
            file.write(json.dumps(value, ensure_ascii=False) + "\n")
            count += 1
    draft.replace(path)
    return count


def write(data, out, seed, copies=2):
    """Writes the files into folder `out`; {name: documents}. Each training problem is the last of `copies` documents.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    kinds = (("gsm8k", split_gsm8k, gsm8k_pairs, 5, gsm8k_wording()[2]),
             ("mbpp", split_mbpp, mbpp_pairs, 3, MBPP_SEPARATOR))
    written = {}
    for kind, (name, split, pairs_of, shots, separator) in enumerate(kinds):
        train, held_out = (pairs_of(items) for items in split(data))
        random = generator(seed, 4, kind)
        for file, pairs, times in ((f"{name}.jsonl", train, copies), (f"{name}.held_out.jsonl", held_out, 1)):
            made = (d for _ in range(times) for d in documents(pairs, shots, separator, random))
            written[file] = write_lines(out / file, made)
    return written


def main():
    parser = argparse.ArgumentParser(prog="public_text", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    try:
        for name, count in write(options.data, options.out, options.seed).items():
            print(f"{options.out / name}: {count} documents")
    except (DataError, OSError) as fault:
        print(f"public_text: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
