r"""Expressions, sums of fractions and linear equations, in MATH's layout, with the answer in \boxed{}.

The level is the number of operations. Half of the problems are to be answered at once and half step by step; the
problem says which. An expression is known by its mathematics alone: a suite's item is kept from training in both forms.
"""
from fractions import Fraction
from math import gcd

LEVELS = {"expression": (2, 3, 4, 5), "fraction": (2, 3), "equation": (2, 3, 4, 5)}
SUBJECTS = {"expression": "Prealgebra", "fraction": "Prealgebra", "equation": "Algebra"}
FORMS = {True: "Answer at once.", False: "Work it out step by step."}
SIGNS = {"+": "+", "-": "-", "*": r"\cdot", "/": r"\div"}
LARGEST = 100  # of the numbers that come up on the way


def written(value):
    """A number as LaTeX: an integer, or a fraction with its sign before it."""
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def whole_leaf(r):
    return r.between(1, 12)


def fraction_leaf(r):
    below = r.between(2, 6)
    above = r.pick([n for n in range(1, below) if gcd(n, below) == 1])
    return Fraction(above, below)


def whole_operations(a, b):
    """The operations that lead from whole a and b to a number from 1 to LARGEST, the quicker growing ones more often;
    a is at least b."""
    return (["+"] * (a + b <= LARGEST) + ["-"] * (a > b) + ["*"] * (a * b <= LARGEST) * 2 +
            ["/"] * (b > 1 and a % b == 0) * 2)


def fraction_operations(a, b):
    """The same with fractions, whose denominators stay small."""
    usable = [sign for sign, value in (("+", a + b), ("*", a * b), ("-", a - b)) if value and value.denominator <= 60]
    return usable or ["-"]


def tree(r, operations, leaf, usable):
    """A random expression: its LaTeX, its outermost sign ("" for a number), its value and the steps to it."""
    if operations == 0:
        value = leaf(r)
        return written(value), "", value, []
    left = r.below(operations)
    first = tree(r, left, leaf, usable)
    second = tree(r, operations - 1 - left, leaf, usable)
    if first[2] < second[2]:
        first, second = second, first
    (a_text, a_sign, a, a_steps), (b_text, b_sign, b, b_steps) = first, second
    sign = r.pick(usable(a, b))
    value = {"+": a + b, "-": a - b, "*": a * b}[sign] if sign != "/" else a // b
    step = f"${written(a)} {SIGNS[sign]} {written(b)} = {written(value)}$."
    if a_sign and (sign in "*/") and (a_sign in "+-" or a_sign != sign):
        a_text = f"({a_text})"
    if b_sign and (sign in "*/" or b_sign in "+-"):  # after a plus sign too, since the steps work it out first
        b_text = f"({b_text})"
    return f"{a_text} {SIGNS[sign]} {b_text}", sign, value, a_steps + b_steps + [step]


def expression(r, level):
    text, _, value, steps = tree(r, level, whole_leaf, whole_operations)
    return f"What is ${text}$?", steps, value


def fraction(r, level):
    text, _, value, steps = tree(r, level, fraction_leaf, fraction_operations)
    return f"What is ${text}$?", steps, value


def signed(number):
    """A summand after another one: its sign and its size."""
    return f"+ {number}" if number >= 0 else f"- {-number}"


def product(factor):
    return "x" if factor == 1 else f"{factor}x"


def equation(r, level):
    """a x + b = c; a (x + b) + c = d; a x + b = c x + d; a (x + b) + c = d x + e: two to five operations."""
    x, a, b = r.between(1, 15), r.between(2, 9), r.between(1, 20) * r.pick([1, -1])
    if level == 2:
        right = a * x + b
        text, steps = f"{a}x {signed(b)} = {right}", []
    elif level == 3:
        c = r.between(1, 20) * r.pick([1, -1])
        right = a * (x + b) + c
        text = f"{a}(x {signed(b)}) {signed(c)} = {right}"
        b = a * b + c
        steps = [f"${a}x {signed(b)} = {right}$."]
    else:
        less, d = r.between(2, 9), r.between(1, 20) * r.pick([1, -1])
        a += less  # so that x's factor stays positive
        inner, outer = f"{a}x {signed(b)}", b
        steps = []
        if level == 5:
            inner, outer = f"{a}(x {signed(b)}) {signed(d)}", a * b + d
        right = (a - less) * x + outer
        text = f"{inner} = {less}x {signed(right)}"
        if level == 5:
            steps.append(f"${a}x {signed(outer)} = {less}x {signed(right)}$.")
        a, b = a - less, outer
        steps.append(f"${product(a)} {signed(b)} = {right}$.")
    steps.append(f"${product(a)} = {right - b}$.")
    steps.append(f"$x = {right - b} / {a} = {x}$." if a > 1 else f"$x = {x}$.")
    return f"Solve ${text}$ for $x$.", steps, x


MAKERS = {"expression": expression, "fraction": fraction, "equation": equation}


def make(r, kind, level, at_once):
    """The problem, its solution and its answer."""
    question, steps, value = MAKERS[kind](r, level)
    answer = written(value)
    told = [] if at_once else steps
    return f"{question} {FORMS[at_once]}", " ".join([*told, rf"The answer is $\boxed{{{answer}}}$."]), answer


def key(problem):
    """What stands between the first two dollar signs."""
    return problem.split("$")[1]


def item_key(item):
    return key(item["problem"])


SORTS = [(kind, level, at_once) for kind, levels in LEVELS.items() for level in levels for at_once in (True, False)]


def make_maths(r, count):
    """`count` items, kinds, levels and forms in turn, no expression twice."""
    items, seen = [], set()
    order = r.shuffled(SORTS)
    while len(items) < count:
        kind, level, at_once = order[len(items) % len(order)]
        problem, solution, answer = make(r, kind, level, at_once)
        if key(problem) in seen:
            continue
        seen.add(key(problem))
        form = "at_once" if at_once else "steps"
        number = len(items) // len(order) + 1
        items.append({"problem": problem, "solution": solution, "answer": answer, "subject": SUBJECTS[kind],
                      "level": level, "unique_id": f"mini/{kind}-{form}/{level}-{number:03}.json"})
    return items


def document(r):
    kind = r.pick(("expression", "expression", "equation", "fraction"))
    problem, solution, _ = make(r, kind, r.pick(LEVELS[kind]), r.below(2) == 0)
    return [[f"Problem:\n{problem}\n\nSolution:", " " + solution]], [key(problem)]


DOCUMENTS = {"maths": document}
