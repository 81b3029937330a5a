"""The bundled mathematics: every answer and every step, worked out again from the LaTeX."""

import collections
import json
import os
import re
import sys
import unittest
from fractions import Fraction

HOME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(HOME, "scripts"))

from mini import maths  # noqa: E402  (found through the path above)
from mini.draws import Random  # noqa: E402


def read():
    with open(os.path.join(HOME, "tasks", "mini", "mini_maths.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def value(latex, x=None):
    """What an expression is worth, at x where it holds one."""
    text = re.sub(r"\\frac\{(\d+)\}\{(\d+)\}", r"(\1 / \2)", latex)
    text = text.replace(r"\cdot", "*").replace(r"\div", "/")
    text = re.sub(r"(\d)(?=[x(])", r"\1 * ", text)
    text = re.sub(r"\d+", r"Q(\g<0>)", text)
    return eval(text, {"Q": Fraction, "x": x})


def operations(latex):
    return len(re.findall(r"\\cdot|\\div|[-+](?= )|\d(?=[x(])", latex))


def boxed(solution):
    start = solution.rindex(r"\boxed{") + len(r"\boxed{")
    return solution[start:solution.rindex("}$.")]


def check(test, problem, solution):
    """The answer fits the problem, and each step holds; returns the answer."""
    latex, answer = problem.split("$")[1], boxed(solution)
    result = value(answer)
    steps = re.findall(r"\$([^$]+)\$", solution)[:-1]
    if "=" not in latex:
        test.assertEqual(value(latex), result, problem)
        for step in steps:
            left, right = step.split(" = ")
            test.assertEqual(value(left), value(right), step)
        if steps:
            test.assertEqual(len(steps), operations(latex))
            test.assertEqual(value(steps[-1].split(" = ")[1]), result)
    else:
        for equation in [latex, *steps]:
            at, beside = ([value(side, x) for side in equation.split(" = ")] for x in (result, result + 1))
            test.assertEqual(len(set(at)), 1, equation)
            test.assertGreater(len(set(beside)), 1, equation)
    written = str(result) if result.denominator == 1 else rf"\frac{{{result.numerator}}}{{{result.denominator}}}"
    test.assertEqual(answer, written)  # in lowest terms
    test.assertEqual("step by step" in problem, bool(steps))
    return answer


class MathsTest(unittest.TestCase):
    def test_the_checks_see_wrong_answers(self):
        for problem, solution in [("What is $2 + 3 \\cdot 4$? Answer at once.", r"The answer is $\boxed{20}$."),
                                  ("Solve $2x + 3 = 9$ for $x$. Answer at once.", r"The answer is $\boxed{4}$."),
                                  ("What is $\\frac{1}{2} + \\frac{1}{4}$? Answer at once.",
                                   r"The answer is $\boxed{\frac{6}{8}}$."),
                                  ("What is $2 + 3 + 4$? Work it out step by step.",
                                   r"$2 + 3 = 6$. $6 + 3 = 9$. The answer is $\boxed{9}$.")]:
            with self.assertRaises(AssertionError):
                check(self, problem, solution)

    def test_items(self):
        items = read()
        self.assertEqual(len(items), 300)
        for item in items:
            self.assertEqual(list(item), ["problem", "solution", "answer", "subject", "level", "unique_id"])
            self.assertEqual(check(self, item["problem"], item["solution"]), item["answer"])
            self.assertEqual(operations(item["problem"].split("$")[1]), item["level"], item["problem"])
        self.assertEqual(sum("at once" in item["problem"] for item in items), 150)
        self.assertEqual(len({item["unique_id"] for item in items}), 300)
        self.assertEqual(len({maths.item_key(item) for item in items}), 300)
        self.assertEqual(collections.Counter(item["level"] for item in items), {2: 90, 3: 90, 4: 60, 5: 60})

    def test_no_answer_is_a_good_guess(self):
        answers = collections.Counter(item["answer"] for item in read())
        self.assertLess(max(answers.values()), 30)

    def test_documents(self):
        random = Random(9)
        for _ in range(500):
            ((prompt, answer),), (key,) = maths.document(random)
            problem, = re.fullmatch(r"Problem:\n(.*)\n\nSolution:", prompt).groups()
            check(self, problem, answer[1:])
            self.assertEqual(key, maths.item_key({"problem": problem}))


if __name__ == "__main__":
    unittest.main()
