"""Grades hostile and odd completions through `fullband grade`: each gets an outcome, in bounded time, as valid JSON.

    hostile_texts_test.py PATH/TO/fullband
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GRADERS = ("number", "lmeval_strict", "lmeval_flexible", "exact", "math")
SECONDS = 60  # of a grader, for all texts: a quadratic one takes minutes
DEEP = 100_000

# Repeated a hundred thousand times, with the number at the end.
UNITS = ["7", "#### ", "\\boxed{", "{", "\\frac{", "(", "$", "\0", "<think>", "</think>", "Answer: ", "\\boxed{7}",
         "#### 1 + ",
         "\\boxed{1+1}", "\\begin{pmatrix}", "1/", "-", "7,", "\\text{", "1e", "\u0301", "\U0001F642", "\u2212", "\uff17", "x^{"]
NESTED = [("\\boxed{", "}"), ("(", ")"), ("x^{", "}"), ("\\sqrt{", "}"), ("\\left(", "\\right)"), ("\\frac{1}{", "}"),
          ("<think>", "</think>")]
# (completion for the gold answer 7, what each of number and math must say, or None where either will do)
ODD = [
    ("\0" * 1000 + "#### 7", "correct"), ("\ufeff#### 7", "correct"), ("\r#### 7\r", "correct"),
    ("\u202e#### 7", "correct"),
    ("####\u00a07", None), ("#### \uff17", None), ("#### \u0667", None), ("\U0001d7d5", None), ("\\boxed{7\0}", None),
    ("#### 9^9^9", "incorrect"), ("#### 1e999999999", "incorrect"),
    ("\\boxed{9^{9^{9^9}}}", "incorrect"), ("#### 7/0", "incorrect"),
    ("\\boxed{\\frac{7}{0}}", "incorrect"), ("\\boxed{\\infty\\cdot 0}", None), ("\\boxed{}", None), ("", "no_answer"),
    ("\\boxed{\\boxed{7}}", "correct"), ("\\boxed{$7$}", "correct"), (" \n\t\0", None),
]
FRAGMENTS = ["\\boxed{", "}", "{", "$", "\\frac", "7", "####", " ", "\0", "\\", "<think>", "</think>", ",", ".", "-",
             "\u2212", "\u00bd",
             "\uff17", "(", "[", "|", "\\left", "\\right", "^", "_", "&", "\\\\", "\n", "answer is", "=", "\\text{",
             "\\begin{pmatrix}",
             "\\end{pmatrix}", "\\infty", "\\cup", "%", "\\pm", "!", "i", "e", "\\pi", "\\sqrt[", "]", "\U0001F642", "+", "\\binom"]


def texts():
    """Pairs of completion and gold; those of ODD come first."""
    yield from ((completion, "7") for completion, _ in ODD)
    for unit in UNITS:
        yield unit * DEEP + "7", "7"
        yield "#### 7" + unit * DEEP, "7"
    for opening, closing in NESTED:
        yield opening * DEEP + "7" + closing * DEEP, "7"
        yield opening * DEEP + closing * DEEP + "7", "7"
    draw = random.Random(7)

    def mixture(most):
        return "".join(draw.choice(FRAGMENTS) for _ in range(draw.randint(1, most)))

    for _ in range(3000):
        yield mixture(60), "7"
    for _ in range(1000):
        yield f"\\boxed{{{mixture(30)}}}", mixture(30)


def failures_of(fullband, grader, rows, path):
    start = time.monotonic()
    command = [fullband, "grade", "--grader", grader, "--pairs", path, "--json"]
    done = subprocess.run(command, capture_output=True, timeout=10 * SECONDS)
    seconds = time.monotonic() - start
    if seconds > SECONDS:
        yield f"took {seconds:.0f} s"
    if done.returncode not in (0, 3):
        yield f"exit code {done.returncode}: {done.stderr[-300:]}"
        return
    items = json.loads(done.stdout.decode("utf-8"))["items"]
    if len(items) != len(rows):
        yield f"{len(items)} outcomes of {len(rows)}"
    for (completion, gold), item in zip(rows, items):
        blameless = item["detail"] in ("gold_is_empty", "gold_not_a_number")  # a made gold may be no answer
        if item["outcome"] not in ("correct", "incorrect", "no_answer", "timeout") and not blameless:
            yield f"{item}: {completion[:80]!r} for {gold!r}"
    if grader in ("number", "math"):
        for (completion, expected), item in zip(ODD, items):
            if expected and item["outcome"] != expected:
                yield f"{item}, not {expected}: {completion[:80]!r}"


def main():
    rows = list(texts())
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        path.write_text("".join(json.dumps({"completion": text, "gold": gold}) + "\n" for text, gold in rows))
        for grader in GRADERS:
            for failure in failures_of(sys.argv[1], grader, rows, str(path)):
                failed += 1
                print(f"FAILED {grader}: {failure}")
    print(f"{len(rows)} texts, {len(GRADERS)} graders, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
