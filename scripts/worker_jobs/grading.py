"""Symbolic mathematics for the graders: equality of expressions (SymPy), and the library math-verify."""

import logging
import random
import resource

import mpmath
import sympy

POINTS = 12  # of each kind, at which two expressions are compared
ENOUGH_POINTS = 4  # where both must be defined to say that they are equal
DIGITS = 40
LARGEST = mpmath.mpf(10) ** 1000

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


# The same with numbers of mpmath.
NUMBERS = {"pi": lambda: +mpmath.pi, "e": lambda: +mpmath.e, "i": lambda: mpmath.mpc(0, 1)}
OPERATIONS = {
    "abs": abs,
    "add": lambda *terms: mpmath.fsum(terms),
    "binomial": mpmath.binomial,
    "ceil": mpmath.ceil,
    "divide": lambda a, b: a / b,
    "factorial": mpmath.factorial,
    "floor": mpmath.floor,
    "lg": lambda x, base=10: mpmath.log(x, base),
    "ln": mpmath.log,
    "log": mpmath.log,
    "max": max,
    "min": min,
    "multiply": lambda a, b: a * b,
    "power": lambda a, b: a**b,
}
OPERATIONS.update({name: getattr(mpmath, name) for name in ("sin", "cos", "tan", "cot", "sec", "csc", "exp")})
OPERATIONS.update({name: getattr(mpmath, name) for name in ("sinh", "cosh", "tanh")})
OPERATIONS.update({f"arc{name}": getattr(mpmath, f"a{name}") for name in ("sin", "cos", "tan", "cot", "sec", "csc")})


class Unknown(Exception):
    """A function that is not in the table: the expressions are then equal only as they are written."""


def prepare_grading(request):
    """{"memory_bytes"}: imports what the other jobs need, and bounds the process's address space, so that a job that wants
    more gets MemoryError."""
    import math_verify  # noqa: F401

    logging.getLogger("math_verify").setLevel(logging.CRITICAL)
    limit, (_, hard) = request["memory_bytes"], resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
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


class Undefined(Exception):
    """An expression has no value at a point, or none that is computed."""


def points(names):
    """Where to compare: of any sign, then positive, then between 0 and 1, where roots and the like are defined."""
    draw = random.Random(1)
    for low, high in ((-4036, 4036), (1, 4036), (1, 1008)):
        for _ in range(POINTS):
            yield {name: mpmath.mpf(draw.randint(low, high)) / 1009 for name in names}


def symbol_names(tree):
    if tree[0] == "symbol":
        return {tree[1]}
    return set().union(*(symbol_names(part) for part in tree[1:] if isinstance(part, list)))


def value_at(tree, point, allow_complex):
    """The value of a tree at a point, an mpmath number. Raises Undefined; so does a part that is not real, unless
    complex numbers are allowed: the root of a negative number is then no step to a real one."""
    kind, *parts = tree
    if kind == "number":
        number = rational(parts[0])
        return mpmath.mpf(int(number.p)) / int(number.q)
    if kind == "symbol":
        return NUMBERS[parts[0]]() if parts[0] in NUMBERS else point[parts[0]]
    arguments = [value_at(part, point, allow_complex) for part in parts if isinstance(part, list)]
    operation = parts[0] if kind == "function" else kind
    if operation not in OPERATIONS:
        raise Unknown(operation)
    try:
        value = mpmath.mpmathify(OPERATIONS[operation](*arguments))
    except (ArithmeticError, ValueError, TypeError, mpmath.libmp.NoConvergence):
        raise Undefined from None
    is_complex = isinstance(value, mpmath.mpc)
    if (is_complex and not allow_complex) or not mpmath.isfinite(value) or abs(value) > LARGEST:
        raise Undefined
    return value


def numeric_verdict(left, right):
    """False where two trees differ at a point at which both are defined, True where they agree at enough of them,
    None where there are too few."""
    names = symbol_names(left) | symbol_names(right)
    allow_complex = "i" in names
    agreed = 0
    with mpmath.workdps(DIGITS):
        for point in points(sorted(names - set(NUMBERS))):
            try:
                values = [value_at(side, point, allow_complex) for side in (left, right)]
            except Undefined:
                continue
            if abs(values[0] - values[1]) > mpmath.mpf(10) ** (10 - DIGITS) * (1 + abs(values[0])):
                return False
            agreed += 1
    return True if agreed >= ENOUGH_POINTS else None


def same_expression(request):
    """{"left": tree, "right": tree}: whether the two are equal wherever both are defined for real variables. Where
    they are hardly anywhere defined, whether SymPy simplifies their difference to zero."""
    try:
        verdict = numeric_verdict(request["left"], request["right"])
        if verdict is not None:
            return verdict
        return sympy.simplify(expression(request["left"]) - expression(request["right"])) == 0
    except Unknown:
        return False


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
