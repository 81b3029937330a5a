"""Answers of MATH-500 rewritten by rule, some kept right and some made wrong: what graders are compared on.

Made anew from the data file each time, so that no public text is kept; the same on every machine.
"""
from __future__ import annotations

import json
import re


def whole(answer):
    """The integer that a plain answer is, or None."""
    return int(answer) if re.fullmatch(r"-?\d{1,9}", answer) else None


def fraction(answer):
    """(sign, numerator, denominator) of an answer that is one \\frac of whole numbers, or None."""
    found = re.fullmatch(r"(-?)\\d?frac\{(\d+)\}\{(\d+)\}", answer)
    return (found[1], int(found[2]), int(found[3])) if found else None


def is_pair(answer):
    """Whether it is two values with a comma between them: no tuple, no set, no large number."""
    return re.fullmatch(r"[^,()\[\]{}]+,[^,()\[\]{}]+", answer) and not re.search(r"\d,\d{3}|\\!", answer)


def right_rewritings(answer):
    """(name of the rule, the same answer written in another way)."""
    yield "as it is", answer
    yield "spaces", f" {answer} "
    yield "dollars", f"${answer}$"
    yield "full stop", f"{answer}."
    if "," not in answer:
        yield "label", f"x = {answer}" if "=" not in answer and "\\in" not in answer and "text" not in answer else answer
    if (number := whole(answer)) is not None:
        yield "point zero", f"{answer}.0"
        yield "point", f"{answer}."
        yield "plus zero", f"{answer} + 0"
        yield "fraction", f"\\frac{{{2 * number}}}{{2}}"
        yield "percent", f"{answer}\\%"
        yield "unit", f"{answer}\\text{{ cm}}"
        yield "square unit", f"{answer}\\text{{ cm}}^2"
        yield "text", f"\\text{{{answer}}}"
        if number >= 1000:
            yield "comma", f"{number:,}"
            yield "thin space", f"{number:,}".replace(",", "\\,")
            yield "brace comma", f"{number:,}".replace(",", "{,}")
            yield "comma and back", f"{number:,}".replace(",", ",\\!")
        if number > 0:
            yield "root of square", f"\\sqrt{{{number * number}}}"
            yield "dollar sign", f"\\${answer}"
        if number < 0:
            yield "unicode minus", answer.replace("-", "\u2212")
    if (parts := fraction(answer)) is not None:
        sign, a, b = parts
        yield "tfrac", f"{sign}\\tfrac{{{a}}}{{{b}}}"
        yield "slash", f"{sign}{a}/{b}"
        yield "not reduced", f"{sign}\\frac{{{3 * a}}}{{{3 * b}}}"
        yield "sign inside", f"\\frac{{{sign}{a}}}{{{b}}}"
        if a < 10 and b < 10:
            yield "no braces", f"{sign}\\frac{a}{b}"
        if a > b and a % b:
            yield "mixed", f"{sign}{a // b}\\frac{{{a % b}}}{{{b}}}"
        if re.fullmatch(r"[25]+", "".join(map(str, prime_factors(b)))) and b < 1000:
            yield "decimal", f"{sign}{a / b:.12f}".rstrip("0")
    if "\\sqrt{" in answer:
        yield "power one half", re.sub(r"\\sqrt\{(\d+)\}", r"(\1)^{1/2}", answer)
    if "\\left" in answer:
        yield "no left", answer.replace("\\left", "").replace("\\right", "")
    if "pmatrix" in answer:
        yield "bmatrix", answer.replace("pmatrix", "bmatrix")
    if found := re.fullmatch(r"\(([^,()]+), *([^,()]+)\]", answer):
        yield "inequality", f"{found[1]} < x \\le {found[2]}"
    if found := re.fullmatch(r"\((\d+), *\\infty\)", answer):
        yield "inequality", f"x > {found[1]}"
    if "^\\circ" in answer:
        yield "no degrees", answer.replace("^\\circ", "")
        yield "degrees in words", answer.replace("^\\circ", "\\text{ degrees}")
    if found := re.fullmatch(r"\\text\{(\w+)\}", answer):
        yield "bare word", found[1]
        yield "upper case", f"\\text{{{found[1].upper()}}}"
    if found := re.fullmatch(r"(\d+)_\{?(\d)\}?", answer):
        yield "base in braces", f"{found[1]}_{{{found[2]}}}"
        yield "no base", found[1]
    if is_pair(answer):
        first, second = answer.split(",")
        yield "other order", f"{second.strip()}, {first.strip()}"
        yield "and", f"{first.strip()} \\text{{ and }} {second.strip()}"
    if re.fullmatch(r"[^()]+ \\cup [^()]+", answer.replace("(", "").replace(")", "")):
        yield "other order", " \\cup ".join(reversed(answer.split(" \\cup ")))


def wrong_rewritings(answer):
    """(name of the rule, another answer that is near it)."""
    if (number := whole(answer)) is not None:
        yield "plus one", str(number + 1)
        yield "digit more", f"{answer}0" if number else "10"
        if number:
            yield "other sign", str(-number)
            yield "plus-minus", f"\\pm {answer}"
        yield "pair", f"({answer},{answer})"
        yield "nearly", f"{answer}.001"
        yield "plus e", f"{answer} + e"
        yield "squared", f"{answer}^2" if number not in (-1, 0, 1) else "2"
        yield "imaginary", f"{answer}i" if number else "i"
    if (parts := fraction(answer)) is not None:
        sign, a, b = parts
        if a != b:
            yield "upside down", f"{sign}\\frac{{{b}}}{{{a}}}" if a else "1"
        yield "numerator", f"{sign}{a}"
        yield "rounded", f"{sign}{a / b:.2f}" if a * 100 % b else f"{sign}{a / b + 1:.2f}"
        yield "other sign", f"{'' if sign else '-'}\\frac{{{a}}}{{{b}}}"
    if "\\sqrt{" in answer:
        yield "no root", answer.replace("\\sqrt", "")
        yield "other root", re.sub(r"\\sqrt\{(\d+)\}", lambda m: f"\\sqrt{{{int(m[1]) + 1}}}", answer)
    if answer.startswith(("(", "[", "\\left(", "\\left[")) and answer.endswith((")", "]")):
        other = answer[:-1] + ("]" if answer.endswith(")") else ")")
        if "infty)" not in answer:
            yield "other bracket", other
    if found := re.fullmatch(r"(\d+)_\{?(\d)\}?", answer):
        yield "other base", f"{found[1]}_{{{int(found[2]) + 1}}}"
        yield "other digits", f"1{found[1]}_{{{found[2]}}}"
    if re.fullmatch(r"\\text\{(\w+)\}", answer):
        yield "other word", "\\text{nothing}"
    if re.fullmatch(r"[a-zA-Z0-9+\-^ ]*[a-z][a-zA-Z0-9+\-^ ]*", answer):
        yield "other letter case", re.sub(r"[a-z]", lambda m: m[0].upper(), answer, count=1)
        yield "one more", f"{answer} + 1"
    if is_pair(answer):
        yield "one of two", answer.split(",")[0]
    if "\\pm" in answer:
        yield "one sign", answer.replace("\\pm", "+")
    if "pmatrix" in answer and "&" not in answer:
        yield "row", answer.replace("\\\\", "&")


def prime_factors(number):
    factors, divisor = [], 2
    while number > 1:
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
        divisor += 1
    return factors


def other_answer(gold):
    """An answer that no gold of the data set has."""
    return "98765" if gold != "98765" else "1"


def wordings(gold):
    """(right, name of the wording, completion): the answer, or another one, said in other words than the solutions'."""
    other = other_answer(gold)
    yield True, "$$ box $$", f"Hence\n$$\\boxed{{{gold}}}$$"
    yield True, "\\[ box \\]", f"Hence\n\\[\n\\boxed{{{gold}}}\n\\]\nThat is all."
    yield True, "\\( box \\)", f"Hence \\(\\boxed{{{gold}}}\\)."
    yield True, "box without mathematics", f"Hence \\boxed{{{gold}}}."
    yield True, "box = last step", f"We get $a = b = \\boxed{{{gold}}}$ in the end."
    yield True, "fbox", f"Hence $\\fbox{{{gold}}}$."
    yield True, "box with a space", f"Hence $\\boxed {{{gold}}}$."
    yield True, "a box, then numbers", f"Hence $\\boxed{{{gold}}}$. This took 12 steps and $3$ tries."
    yield True, "another box before", f"First $\\boxed{{{other}}}$, which is wrong. No: $\\boxed{{{gold}}}$."
    yield True, "a thought before", f"<think>$\\boxed{{{other}}}$?</think>So $\\boxed{{{gold}}}$."
    yield True, "a thought behind", f"So $\\boxed{{{gold}}}$.\n<think>Or $\\boxed{{{other}}}$?</think>"
    yield True, "cut off in a second box", f"So $\\boxed{{{gold}}}$. Once more: $\\boxed{{\\frac{{1"
    yield True, "the answer is $...$", f"The answer is ${gold}$."
    yield True, "final answer", f"Final Answer: The final answer is ${gold}$. I hope it is correct."
    yield True, "**Answer:** $...$", f"We add.\n\n**Answer:** ${gold}$"
    yield False, "another box behind", f"First $\\boxed{{{gold}}}$. No: $\\boxed{{{other}}}$."
    yield False, "in the thought alone", f"<think>So $\\boxed{{{gold}}}$.</think> I say $\\boxed{{{other}}}$."
    said = f"${other}$" if gold.startswith("\\text") else f"The answer is ${other}$, not ${gold}$ squared."
    yield False, "another answer", said
    yield False, "nothing", ""
    yield False, "words", "I do not know."


def outputs(file):
    """(right, rule, completion, gold, answer as rewritten) of every rewriting of every answer of MATH-500's file, and
    of every third answer in other words."""
    for row, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
        problem = json.loads(line)
        gold = problem["answer"]
        yield True, "reference solution", problem["solution"], gold, gold
        for right, rewritings in ((True, right_rewritings), (False, wrong_rewritings)):
            for rule, answer in rewritings(gold):
                completion = f"We look at it.\n\nTherefore the result is $\\boxed{{{answer}}}$."
                if rule in ("dollars", "full stop"):
                    completion = f"Therefore the result is \\boxed{{{answer}}}"
                yield right, rule, completion, gold, answer
        if row % 3 == 0:
            for right, rule, completion in wordings(gold):
                yield right, f"in words: {rule}", completion, gold, gold
