"""Compares the graders `math` and `math_verify`, through `fullband grade`, on answers of MATH-500 rewritten by rule, and
on what SmolLM2 wrote.

Each rewriting says whether it keeps the answer right, so that a difference between the graders has a known winner.
`math_verify` must be the library's own verdict exactly: as scripts/peers/math_verify_verdicts.py recorded it, and as
the library says that is installed here.

    math_mutations_test.py PATH/TO/fullband [--list]      # --list prints every difference
"""

import json
import sys
from collections import Counter

import graded
from graded import REPOSITORY, SKIP

sys.path.insert(0, str(REPOSITORY / "scripts" / "peers"))
import math_outputs  # noqa: E402
from hashes import hash_of  # noqa: E402

AT_LEAST = 2000
MATH_VERIFY, IS_EQUIV = 1, 2  # the bits of a recorded verdict


def library_verdicts(pairs):
    """What math-verify itself says, called as its own documentation does: (correct, what it extracted)."""
    from math_verify import parse, verify

    golds = {}
    for completion, gold in pairs:
        if gold not in golds:
            golds[gold] = parse(f"\\boxed{{{gold}}}")
        answer = parse(completion)
        strings = [part for part in answer if isinstance(part, str)]
        yield bool(verify(golds[gold], answer)), strings[0] if strings else ""


def is_library(item, correct, extracted):
    """Whether an item of the grader `math_verify` is the library's. What nothing was found in has no extraction."""
    return (item["outcome"] == "correct") == correct and item["extracted"] == extracted


def judge(row, our, mirror, recorded, library):
    """What is wrong with the two graders' verdicts on one output, as lines to print."""
    right, rule, _, gold, answer = row
    if not is_library(mirror, *library) or bool(recorded & MATH_VERIFY) != library[0]:
        yield f"math_verify is not the library: {mirror}, {library}, recorded {recorded}: '{rule}': {answer!r} for {gold!r}"
    if (our["outcome"] == "correct") != right:
        yield f"math is wrong, {our}, '{rule}': {answer!r} for {gold!r}"


def differing(row, our, recorded, library):
    """The peers that judge an output otherwise than `math`."""
    correct = our["outcome"] == "correct"
    if library[0] != correct:
        yield "math_verify"
    # It was asked about the bare answer, so that wordings say nothing about it.
    if not row[1].startswith("in words") and bool(recorded & IS_EQUIV) != correct:
        yield "is_equiv"


def compare_rewritten(fullband, file, show_all):
    rows = list(math_outputs.outputs(file))
    pairs = [(completion, gold) for _, _, completion, gold, _ in rows]
    fixture = graded.peer_fixture("math_verify.json")
    if fixture["outputs"] != hash_of(pairs) or len(fixture["verdicts"]) != len(rows):
        print("the outputs are not those that were recorded (run scripts/record_peers after a change of the rules)")
        return 1
    ours = graded.graded(fullband, "math", pairs)
    mirrored = graded.graded(fullband, "math_verify", pairs)
    failures, counts = 0, Counter()
    recorded = map(int, fixture["verdicts"])
    for row, our, mirror, record, library in zip(rows, ours, mirrored, recorded, library_verdicts(pairs), strict=True):
        for line in judge(row, our, mirror, record, library):
            failures += 1
            print(line)
        for peer in differing(row, our, record, library):
            counts[peer, "right" if row[0] else "wrong", row[1]] += 1
            if show_all:
                print(f"math {our['outcome']}, not {peer}; truly {row[0]}, '{row[1]}': {row[4]!r} for {row[3]!r}")
    print(f"{len(rows)} answers, {sum(row[0] for row in rows)} of them right")
    print("where math differs, and is right (the peer; the answers; how they were rewritten; how many):")
    for (peer, kind, rule), count in sorted(counts.items()):
        print(f"  {peer}; {kind}; {rule}; {count}")
    return failures + (len(rows) < AT_LEAST)


def compare_model(fullband, file):
    """What a model wrote: nothing says what is right, so that differences of `math` are printed to be read."""
    golds = {row["unique_id"]: row["answer"] for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())}
    recorded = graded.peer_fixture("math_verify.json")["model_outputs"]
    pairs = [(text, golds[item]) for item, text, _, _ in recorded]
    ours = graded.graded(fullband, "math", pairs)
    mirrored = graded.graded(fullband, "math_verify", pairs)
    failures = 0
    for (item, text, correct, extracted), our, mirror, library in zip(
        recorded, ours, mirrored, library_verdicts(pairs), strict=True
    ):
        if not is_library(mirror, correct, extracted) or library != (correct, extracted):
            failures += 1
            print(
                f"math_verify is not the library, item {item}: {mirror}, {library}, recorded {correct}, {extracted!r}"
            )
        if (our["outcome"] == "correct") != correct:
            print(
                f"item {item}: math {our['outcome']} {our['extracted']!r}, math_verify {correct} {extracted!r}, "
                f"gold {golds[item]!r}: {text[-80:]!r}"
            )
    print(
        f"{len(recorded)} outputs of a model, of them right: {sum(row[2] for row in recorded)} (math_verify), "
        f"{sum(our['outcome'] == 'correct' for our in ours)} (math)"
    )
    return failures + (not recorded)


def main():
    fullband, options = sys.argv[1], sys.argv[2:]
    file = graded.data_file("math500/test.jsonl")
    if file is None:
        print("skipped: the public data files are not there")
        return SKIP
    try:
        import math_verify  # noqa: F401
    except ModuleNotFoundError:
        print("skipped: math-verify is missing (run scripts/setup)")
        return SKIP
    return 1 if compare_model(fullband, file) + compare_rewritten(fullband, file, "--list" in options) else 0


if __name__ == "__main__":
    sys.exit(main())
