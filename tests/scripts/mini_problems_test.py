"""The bundled word problems and choices: arithmetic worked out again, and training text laid out as the suites ask."""

import ast
import json
import os
import re
import sys
import unittest

HOME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(HOME, "scripts"))

from mini import choices, problems  # noqa: E402  (found through the path above)
from mini.draws import Random  # noqa: E402

STEP = re.compile(r"(\d+) ([-+*/]) (\d+) = \$?(\d+)")


def read(name):
    with open(os.path.join(HOME, "tasks", "mini", name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def completion_of(suite):
    """The strings of the suite's [completion] table; TOML's and Python's escapes agree on those in use."""
    with open(os.path.join(HOME, "tasks", suite + ".toml"), encoding="utf-8") as file:
        table = file.read().split("[completion]")[1].split("\n[")[0]
    return {key: ast.literal_eval(text) for key, text in re.findall(r'^(\w+) = (".*")$', table, re.MULTILINE)}


def check_steps(test, question, answer):
    """Each step holds and starts from known numbers, the question's are all used, and #### repeats the last result."""
    steps, final = answer.split("\n#### ")
    known, used = set(re.findall(r"\d+", question)), set()
    for a, sign, b, result in STEP.findall(steps):
        a, b, result = int(a), int(b), int(result)
        if sign == "/":
            test.assertEqual(a % b, 0, answer)
        test.assertEqual(result, {"+": a + b, "-": a - b, "*": a * b, "/": a // b}[sign], answer)
        used |= {str(a), str(b)}
        known.add(str(result))
    test.assertEqual(final, str(result), answer)
    test.assertTrue(set(re.findall(r"\d+", question)) <= used, f"{question}\n{answer}")
    test.assertTrue(used - known <= {"2", "3", "4"}, f"{question}\n{answer}")  # twice, three times, legs of a goat


def right_choice(query, among):
    """The right one of `among`, or None where it is a matter of fact."""
    numbers = [int(n) for n in re.findall(r"\d+", query)]
    if query.startswith("What is ") and len(numbers) == 2:
        return str({"plus": int.__add__, "minus": int.__sub__, "times": int.__mul__}[query.split()[3]](*numbers))
    if query.startswith("Which number comes next"):
        return str(numbers[-1] + numbers[1] - numbers[0])
    if query.startswith("Which number is the "):
        return str({"largest": max, "smallest": min}[query.split()[4].rstrip(":")](numbers))
    if query.startswith("Which word does not belong"):
        kinds = {word: kind for kind, words in choices.KINDS.items() for word in words}
        return next(word for word in among if sum(kinds[word] == kinds[other] for other in among) == 1)
    return None


class ProblemsTest(unittest.TestCase):
    def test_steps(self):
        items = read("mini_gsm8k.jsonl") + read("mini_gsm8k_shots.jsonl")
        self.assertEqual(len(items), 560)
        for item in items:
            check_steps(self, item["question"], item["answer"])

    def test_wrong_steps_are_seen(self):
        question = "Ben has 5 beads. Then he finds 6 more. How many beads does Ben have now?"
        check_steps(self, question, "Ben has 5 + 6 = 11 beads.\n#### 11")
        for answer in ("5 + 6 = 12\n#### 12", "5 + 6 = 11\n#### 12", "5 + 7 = 12\n#### 12", "5 + 5 = 10\n#### 10"):
            with self.assertRaises(AssertionError):
                check_steps(self, question, answer)

    def test_documents_read_as_the_suites_prompts(self):
        layout = completion_of("mini_gsm8k")
        random, counts = Random(21), []
        for _ in range(600):
            turns, keys = problems.document(random)
            counts.append(len(turns))
            told = []
            for (_, answer), question in zip(turns, keys):
                told.append(layout["question"].replace("{question}", question) +
                            layout["answer"].replace("{answer}", answer[1:]))
                check_steps(self, question, answer[1:])
            self.assertEqual("".join(prompt + answer for prompt, answer in turns), layout["separator"].join(told))
            self.assertTrue(all(prompt.endswith("\nAnswer:") for prompt, _ in turns))
        self.assertEqual(set(counts), {1, 2, 3})  # up to the suite's two shots and a question
        self.assertTrue(1.8 < sum(counts) / len(counts) < 2)
        self.assertEqual(max(set(counts), key=counts.count), 1)


class ChoicesTest(unittest.TestCase):
    def test_right_choices(self):
        computed = 0
        for item in read("mini_choice.jsonl"):
            right = right_choice(item["query"], item["choices"])
            if right is not None:
                computed += 1
                self.assertEqual(item["choices"][item["gold"]], right, item)
        self.assertGreater(computed, 250)

    def test_documents_read_as_the_suites_prompts(self):
        layout = completion_of("mini_choice")
        random = Random(22)
        for _ in range(600):
            turns, keys = choices.document(random)
            told = []
            for (_, answer), key in zip(turns, keys):
                query = key.split("\n")[0]
                told.append(layout["question"].replace("{query}", query) +
                            layout["answer"].replace("{choice}", answer[1:]))
                listed = re.split(r", | or ", query.split(": ")[-1].rstrip("?"))
                right = right_choice(query, listed)
                self.assertIn(right, (None, answer[1:]), query)
                if "\n" in key:
                    self.assertIn(answer[1:], key.split("\n")[1:])
            self.assertEqual("".join(prompt + answer for prompt, answer in turns), layout["separator"].join(told))


if __name__ == "__main__":
    unittest.main()
