"""GSM8K's reference solutions rewritten by rule, some kept right and some made wrong: what graders are compared on.

Each rule says whether the output is right, so that where two graders differ one of them is known to err. Made anew
from the data file each time (no public text is kept); the same on every machine, since nothing is drawn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

STEP = 20  # every twentieth item of the test split


class Output(NamedTuple):
    right: bool
    rule: str
    completion: str
    gold: str  # the reference solution, as the data file has it


def split_solution(solution: str) -> tuple[str, str]:
    """(the worked steps, the final number without commas)."""
    steps, final = solution.rsplit("#### ", 1)
    return steps.rstrip("\n"), final.strip().replace(",", "")


def right_endings(number: int) -> Iterator[tuple[str, str]]:
    """(rule, what stands behind the steps): spellings of the right number."""
    plain, grouped = str(number), f"{number:,}"
    yield "#### 7", f"#### {plain}"
    yield "####7", f"####{plain}"
    yield "#### 7.", f"#### {plain}."
    yield "#### 7.00", f"#### {plain}.00"
    yield "#### $7", f"#### ${plain}"
    yield "#### $7.00.", f"#### ${plain}.00."
    yield "#### \\$7", f"#### \\${plain}"
    yield "#### £7", f"#### \u00a3{plain}"
    yield "#### 7 dollars", f"#### {plain} dollars"
    yield "#### 7km", f"#### {plain}km"
    yield "#### 7%", f"#### {plain}%"
    yield "#### **7**", f"#### **{plain}**"
    yield "**#### 7**", f"**#### {plain}**"
    yield "#### \\boxed{7}", f"#### \\boxed{{{plain}}}"
    yield "#### x = 7", f"#### x = {plain}"
    yield "#### 7 = 7", f"#### {number + 1} - 1 = {plain}"
    yield "#### 14/2", f"#### {2 * number}/2"
    yield "#### (7)", f"#### ({plain})"
    yield "#### 7...", f"#### {plain}..."
    yield "#### 7 and a number below", f"#### {plain}\n\nThis took 3 steps."
    yield "#### 7 and dots below", f"#### {plain}\n\nHope this helps..."
    yield "#### 7 and a dash below", f"#### {plain}\n- done -"
    yield "The answer is 7.", f"The answer is {plain}."
    yield "The answer is $7.", f"The answer is ${grouped}."
    yield "The answer is 7 (a remark with a number)", f"The answer is {plain}. (Checked 2 times.)"
    yield "Answer: 7", f"Answer: {plain}"
    yield "Final answer: **7**", f"**Final answer:** **{plain}** apples"
    yield "\\boxed{7}", f"So it is $\\boxed{{{plain}}}$."
    yield "\\boxed{7 text}", f"So it is \\(\\boxed{{{plain}\\text{{ km}}}}\\)."
    yield "a thought first", f"<think>{number + 5}? No.</think>\n#### {plain}"
    yield "a thought last", f"#### {plain}\n<think>Or {number + 5}?</think>"
    yield "unmarked", f"That makes {plain} in all."
    if number >= 1000:
        yield "#### 1,000", f"#### {grouped}"
        yield "#### 1{,}000", f"#### {grouped.replace(',', '{,}')}"
        yield "#### 1\\,000", f"#### {grouped.replace(',', chr(92) + ',')}"
        yield "#### 1 000 (thin space)", f"#### {grouped.replace(',', chr(0x202F))}"
        yield "\\boxed{1,000}", f"\\boxed{{{grouped}}}"
        yield "unmarked 1,000.", f"That makes {grouped}."


def wrong_endings(number: int) -> Iterator[tuple[str, str]]:
    """(rule, what stands behind the steps): numbers near the right one, or none."""
    plain = str(number)
    yield "#### 8 for 7", f"#### {number + 1}"
    yield "#### 70 for 7", f"#### {plain}0"
    yield "#### -7 for 7", f"#### -{plain}"
    yield "#### -$7 for 7", f"#### -${plain}"
    yield "#### \u22127 for 7", f"#### \u2212{plain}"
    yield "#### 7.5 for 7", f"#### {plain}.5"
    yield "#### 7.05 for 7", f"#### {plain}.05"
    yield "#### 7/3 for 7", f"#### {plain}/{number * 2 + 1}"
    yield "#### 7½ for 7", f"#### {plain}\u00bd"
    yield "#### 7:30 for 7", f"#### {plain}:30"
    yield "#### 7^2 for 7", f"#### {plain if number > 1 else 3}^2"
    yield "#### 7,5 for 7", f"#### {plain},5"
    yield "#### .7 for 7", f"#### .{plain}1"
    yield "#### 7 + 1 for 7", f"#### {plain} + 1"
    yield "#### 7 and another below", f"#### {plain}\nNo, wait.\n#### {number + 3}"
    yield "the other boxed last", f"#### {plain}\nNo, wait: $\\boxed{{{number + 3}}}$"
    yield "The answer is 8.", f"7. The answer is {number + 1}."
    yield "right in the thought alone", f"<think>\n#### {plain}\n</think>\n#### {number + 2}"
    yield "a thought without end", f"<think>\n#### {plain}"


def changed_golds(steps: str, number: int) -> Iterator[Output]:
    """With a reference whose number is negative, or a decimal: the data set has none."""
    negative, half = f"-{number}", f"{number}.5"
    for rule, value, ending, right in (
        ("#### -$7 for -7", negative, f"#### -${number}", True),
        ("#### $-7 for -7", negative, f"#### $-{number}", True),
        ("#### \u22127 for -7", negative, f"#### \u2212{number}", True),
        ("#### 7 for -7", negative, f"#### {number}", False),
        ("#### 7.50 for 7.5", half, f"#### ${number}.50", True),
        ("#### 7 1/2 for 7.5", half, f"#### {number} 1/2", True),
        ("#### 7 for 7.5", half, f"#### {number}", False),
    ):
        yield Output(right, rule, f"{steps}\n{ending}", f"{steps}\n#### {value}")


def without_steps(steps: str) -> str:
    """The steps without the calculator's notes."""
    return re.sub(r"<<[^<>]*>>", "", steps)


def outputs(data: Path) -> Iterator[Output]:
    """Every rewriting of every twentieth reference solution of `data`, GSM8K's test file: some four thousand."""
    lines = data.read_text(encoding="utf-8").splitlines()
    for row in range(0, len(lines), STEP):
        solution = json.loads(lines[row])["answer"]
        steps, final = split_solution(solution)
        number = int(final)
        shown = steps if row % (2 * STEP) else without_steps(steps)
        yield Output(True, "reference solution", solution, solution)
        yield Output(True, "reference solution, no notes", without_steps(solution), solution)
        if number == 0:
            continue  # 0 is -0 and 0/3
        for right, endings in ((True, right_endings(number)), (False, wrong_endings(number))):
            for rule, ending in endings:
                yield Output(right, rule, f"{shown}\n{ending}", solution)
        yield from changed_golds(shown, number)
        yield Output(False, "nothing", "", solution)
        yield Output(False, "no number", "I do not know.\n#### none", solution)
