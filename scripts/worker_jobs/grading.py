"""Symbolic mathematics for the graders: equality of expressions (SymPy), and the library math-verify."""

import logging
import random
import resource

import sympy

MEMORY_BYTES = 2 << 30  # of address space: a job that wants more gets MemoryError
POINTS = 12  # at which two expressions are compared
ENOUGH_POINTS = 4  # where both must be defined to say that they are equal
DIGITS = 30

FUNCTIONS = {
    "abs": sympy.Abs,
    "arccos": sympy.acos,
    "arccot": sympy.acot,
    "arccsc": sympy.acsc,
    "arcsec": sympy.asec,
    "arcsin": sympy.asin,
    "arctan": sympy.atan,
    "binomial": sympy.binomial,
    "ceil": sympy.ceiling,
    "cos": sympy.cos,
    "cosh": sympy.cosh,
    "cot": sympy.cot,
    "csc": sympy.csc,
    "exp": sympy.exp,
    "factorial": sympy.factorial,
    "floor": sympy.floor,
    "ln": sympy.log,
    "max": sympy.Max,
    "min": sympy.Min,
    "sec": sympy.sec,
    "sin": sympy.sin,
    "sinh": sympy.sinh,
    "tan": sympy.tan,
    "tanh": sympy.tanh,
}
CONSTANTS = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "infty": sympy.oo}


class Unknown(Exception):
    """A function that is not in the table: the expressions are then equal only as they are written."""


def prepare_grading(request):
    """Imports what the other jobs need, and bounds the process's memory."""
    import math_verify  # noqa: F401

    logging.getLogger("math_verify").setLevel(logging.CRITICAL)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    return True


def rational(text):
    """The decimal number `text`, exactly; the digits in brackets repeat: 0.(3) is 1/3."""
    head, _, repeating = text.rstrip(")").partition("(")
    value = sympy.Rational(head if head not in ("", ".") else "0")
    if repeating:
        places = len(head.partition(".")[2])
        value += sympy.Rational(int(repeating), (10 ** len(repeating) - 1) * 10**places)
    return value


def expression(tree):
    """A SymPy expression of nested lists as evals/graders/math.cc sends them. Variables are real numbers."""
    kind, *parts = tree
    if kind == "number":
        return rational(parts[0])
    if kind == "symbol":
        return CONSTANTS.get(parts[0]) or sympy.Symbol(parts[0], real=True)
    if kind == "function":
        name, *arguments = parts
        return function(name, [expression(part) for part in arguments])
    values = [expression(part) for part in parts]
    if kind == "add":
        return sympy.Add(*values)
    if kind == "multiply":
        return sympy.Mul(*values)
    if kind == "divide":
        return values[0] / values[1]
    if kind == "power":
        return values[0] ** values[1]
    raise ValueError(f"unknown kind of node '{kind}'")


def function(name, arguments):
    if name in ("log", "lg"):
        if name == "lg" and len(arguments) == 1:
            arguments.append(sympy.Integer(10))
        return sympy.log(*arguments)
    if name not in FUNCTIONS:
        raise Unknown(name)
    return FUNCTIONS[name](*arguments)


def numeric_verdict(difference, size, symbols):
    """Whether `difference` is zero at points of the real numbers: False at the first where it is not, True where it
    is at enough of them, None where there are too few at which it is defined."""
    draw = random.Random(1)
    agreed = 0
    for _ in range(POINTS):
        point = {symbol: sympy.Rational(draw.randint(-4000, 4000), 1009) for symbol in symbols}
        value, scale = (complex(side.evalf(DIGITS, subs=point)) for side in (difference, size))
        if not all(abs(number) < 1e12 for number in (value, scale)):  # undefined there, or without enough digits
            continue
        if abs(value) > 1e-12 * (1 + abs(scale)):
            return False
        agreed += 1
    return True if agreed >= ENOUGH_POINTS else None


def same_expression(request):
    """{"left": tree, "right": tree}: whether the two are equal wherever both are defined."""
    try:
        left, right = expression(request["left"]), expression(request["right"])
    except Unknown:
        return False
    difference = left - right
    if difference == 0:
        return True
    symbols = sorted(difference.free_symbols, key=lambda symbol: symbol.name)
    try:
        verdict = numeric_verdict(difference, sympy.Abs(left), symbols)
    except (TypeError, ValueError, ArithmeticError):  # no number: infinite, or not to be evaluated
        verdict = None
    if verdict is False:
        return False
    if sympy.simplify(difference) == 0:
        return True
    # Equal at points drawn at random, which simplification does not see.
    return verdict is True


def math_verify(request):
    """{"completion", "gold"}: math-verify's verdict with its default settings. A gold without mathematics of its own
    (`$`, \\boxed, \\( or \\[) is a bare answer, and is put in a box as the solutions have it."""
    from math_verify import parse, verify

    gold_text = request["gold"]
    if not any(mark in gold_text for mark in ("\\boxed", "\\(", "\\[")) and "$" not in gold_text.replace("\\$", ""):
        gold_text = f"\\boxed{{{gold_text}}}"
    gold = parse(gold_text)
    answer = parse(request["completion"])
    correct = bool(verify(gold=gold, target=answer)) if gold else False
    strings = [item for item in answer if isinstance(item, str)]
    return {
        "gold_found": bool(gold),
        "found": bool(answer),
        "correct": correct,
        "extracted": strings[0] if strings else "",
    }
