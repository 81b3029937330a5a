"""The bundled Python functions: every canonical solution passes its tests, and every small change to it fails them."""

import json
import os
import re
import sys
import unittest

HOME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(HOME, "scripts"))

from mini import code  # noqa: E402  (found through the path above)
from mini.alterations import altered, runs  # noqa: E402
from mini.draws import Random  # noqa: E402

def read(name):
    with open(os.path.join(HOME, "tasks", "mini", name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def cases():
    """The items of both files, the functions' sources, and the layouts' ways to test them."""
    for item in read("mini_humaneval.jsonl"):
        yield item, item["prompt"] + item["canonical_solution"], code.humaneval_program
    for item in read("mini_mbpp.jsonl"):
        yield item, item["code"], code.mbpp_program


class ItemsTest(unittest.TestCase):
    def test_fields(self):
        items = read("mini_humaneval.jsonl")
        self.assertEqual([item["task_id"] for item in items], [f"MiniHumanEval/{i}" for i in range(1, 101)])
        for item in items:
            self.assertEqual(list(item), ["task_id", "prompt", "entry_point", "canonical_solution", "test"])
            self.assertTrue(item["prompt"].startswith(f"def {item['entry_point']}("))
            self.assertIn("def check(candidate):", item["test"])
            self.assertGreaterEqual(item["test"].count("assert candidate("), 4)
        items = read("mini_mbpp.jsonl")
        self.assertEqual([item["task_id"] for item in items], list(range(1, 101)))
        for item in items:
            self.assertEqual(list(item), ["text", "code", "task_id", "test_setup_code", "test_list",
                                          "challenge_test_list"])
            self.assertEqual(len(item["test_list"]), 3)

    def test_the_example_in_the_prompt_holds(self):
        for item in read("mini_humaneval.jsonl"):
            call, result = item["prompt"].split(">>> ")[1].split("\n")[:2]
            self.assertTrue(runs(f"{item['prompt']}{item['canonical_solution']}\n"
                                   f"assert repr({call}) == {result.strip()!r}"), item["task_id"])

    def test_canonical_solutions_pass(self):
        for item, source, program in cases():
            self.assertTrue(runs(program(item, source)), item["task_id"])

    def test_broken_solutions_fail(self):
        for item, source, program in cases():
            wrong = [other for other in altered(source) if runs(program(item, other + "\n"))]
            self.assertEqual(wrong, [], f"{item['task_id']} lets these pass; it is\n{source}")

    def test_other_functions_fail(self):
        """Each function under its neighbour's name."""
        everything = list(cases())
        for (item, source, program), (_, other, _) in zip(everything, everything[1:] + everything[:1]):
            name = re.match(r"def (\w+)", source)[1]
            self.assertFalse(runs(program(item, re.sub(r"def \w+", f"def {name}", other, count=1))), item["task_id"])

    def test_the_faults_are_what_they_say(self):
        faults = list(altered('def f(x):\n    """Return x plus 2 if more."""\n    return max(x + 2, 7) > 3\n'))
        for body in ("max(x + 1, 7) > 3", "max(x + 3, 7) > 3", "max(x - 2, 7) > 3", "min(x + 2, 7) > 3",
                     "max(x + 2, 8) > 3", "max(x + 2, 7) >= 3", "max(x + 2, 7) < 3", "max(x + 2, 7) > 4"):
            self.assertIn(f"def f(x):\n    return {body}", faults)
        self.assertEqual(faults[-1], "def f(x):\n    pass")
        self.assertEqual(len(faults), 11)

    def test_no_sentence_comes_twice(self):
        sentences = [code.humaneval_key(item) for item in read("mini_humaneval.jsonl")]
        sentences += [code.mbpp_key(item) for item in read("mini_mbpp.jsonl")]
        self.assertEqual(len(set(sentences)), 200)


class DocumentTest(unittest.TestCase):
    def test_functions_do_what_their_prompts_show(self):
        random = Random(11)
        for _ in range(300):
            (prompt, solution), = code.humaneval_document(random)[0]
            call, result = prompt.split(">>> ")[1].split("\n")[:2]
            self.assertTrue(runs(f"{prompt}{solution}\nassert repr({call}) == {result.strip()!r}"), prompt)
            (prompt, solution), = code.mbpp_document(random)[0]
            asserts = [line for line in prompt.split("\n") if line.startswith("assert ")]
            self.assertEqual(len(asserts), 3)
            self.assertTrue(runs("\n".join([prompt + solution, *asserts])), prompt)

    def test_keys_are_the_sentences(self):
        random = Random(12)
        for _ in range(100):
            turns, keys = code.humaneval_document(random)
            self.assertEqual([code.humaneval_key({"prompt": turns[0][0]})], keys)
            turns, keys = code.mbpp_document(random)
            self.assertEqual([code.mbpp_key({"text": turns[0][0].split("\n")[1]})], keys)


if __name__ == "__main__":
    unittest.main()
