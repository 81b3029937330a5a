"""State tracking's items and training documents, against the stories followed here from their text alone."""

import collections
import json
import os
import re
import sys
import unittest

HOME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(HOME, "scripts"))

from mini import states  # noqa: E402  (found through the path above)
from mini.draws import Random  # noqa: E402


def read(name):
    with open(os.path.join(HOME, "tasks", "mini", name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def replay_swaps(text):
    """The holdings after the start and after each swap, as {name: colour} in the order of the start."""
    first, *swaps = text.split("; ")
    held = dict(re.fullmatch(r"(\w+) (\w+)", part).groups() for part in first.split(", "))
    if len(held) != 5 or len(set(held.values())) != 5:
        raise ValueError(first)
    after = [dict(held)]
    for swap in swaps:
        a, b = re.fullmatch(r"(\w+) (\w+)", swap).groups()
        if a == b:
            raise ValueError(swap)
        held[a], held[b] = held[b], held[a]
        after.append(dict(held))
    return after


def follow_swaps(text):
    story, name = re.fullmatch(r"(.*)\? (\w+)", text).groups()
    after = replay_swaps(story)
    return after[-1][name], len(after) - 1


def follow_permutations(text):
    story, place = re.fullmatch(r"(.*)\? ([1-5])", text).groups()
    start, *orders = story.split("; ")
    row = re.fullmatch(r"(\w+) (\w+) (\w+) (\w+) (\w+)", start).groups()
    for order in orders:
        wanted = [int(n) for n in order.split(" ")]
        if sorted(wanted) != [1, 2, 3, 4, 5]:
            raise ValueError(order)
        row = [row[n - 1] for n in wanted]
    return row[int(place) - 1], len(orders)


def follow_pointers(text):
    pairs, start, hops = re.fullmatch(r"(.*); ([a-h]) (\d+)\?", text).groups()
    arrows = dict(re.fullmatch(r"([a-h]) ([a-h])", pair).groups() for pair in pairs.split(", "))
    at = start
    for _ in range(int(hops)):
        at = arrows[at]
    return at, int(hops)


def follow_counter(text):
    size, start, rest = re.fullmatch(r"mod (\d+), (\d+)((?:; \w+(?: \d)?)+)\?", text).groups()
    size, value = int(size), int(start)
    operations = rest.split("; ")[1:]
    for operation in operations:
        word, _, number = operation.partition(" ")
        change = {"add": lambda: value + int(number), "take": lambda: value - int(number),
                  "double": lambda: value + value, "triple": lambda: value + value + value}[word]
        value = change() % size
    return str(value), len(operations)


FOLLOW = {"swaps": follow_swaps, "permutations": follow_permutations, "pointers": follow_pointers,
          "counter": follow_counter}


def follow_steps(question):
    """The working and the answer that `question` asks for, and the number of swaps."""
    story, name = re.fullmatch(r"(.*)\? (\w+), step by step:", question).groups()
    after = replay_swaps(story)
    replay = "".join(" ".join(held.values()) + "; " for held in after[1:])
    colour = after[-1][name]
    return f"{replay}{name} {colour}", colour, len(after) - 1


def documents(kind, count, seed=5):
    random = Random(seed)
    return [states.DOCUMENTS[kind](random) for _ in range(count)]


class SuiteTest(unittest.TestCase):
    def test_answers_are_what_the_stories_say(self):
        for item in read("mini_state_tracking.jsonl"):
            self.assertEqual(FOLLOW[item["kind"]](item["question"]), (item["answer"], item["difficulty"]), item["id"])

    def test_workings_are_what_the_stories_say(self):
        for item in read("mini_state_tracking_steps.jsonl"):
            self.assertEqual(follow_steps(item["question"]), (item["working"], item["answer"], item["difficulty"]))

    def test_every_difficulty_comes_equally_often(self):
        items = read("mini_state_tracking.jsonl")
        self.assertEqual(len(items), 500)
        expected = {("swaps", 20): 10, ("permutations", 10): 10, ("pointers", 10): 10, ("counter", 20): 5}
        counts = collections.Counter((item["kind"], item["difficulty"]) for item in items)
        self.assertEqual(counts, {(kind, k): times for (kind, most), times in expected.items()
                                  for k in range(1, most + 1)})
        steps = read("mini_state_tracking_steps.jsonl")
        self.assertEqual(collections.Counter(item["difficulty"] for item in steps), {k: 25 for k in range(1, 13)})
        first = collections.Counter((item["kind"], item["difficulty"]) for item in items[:100])
        self.assertEqual({kind: sum(n for (name, _), n in first.items() if name == kind) for kind in FOLLOW},
                         {"swaps": 40, "permutations": 20, "pointers": 20, "counter": 20})
        self.assertEqual(set(first.values()), {1, 2})  # so a run of the first hundred sees every difficulty

    def test_ids_and_questions_are_unique(self):
        items = read("mini_state_tracking.jsonl") + read("mini_state_tracking_steps.jsonl")
        self.assertEqual(len({item["id"] for item in items}), 800)
        self.assertEqual(len({item["question"] for item in items}), 800)
        for item in items:
            self.assertRegex(item["id"], rf"^{item['kind']}-{item['difficulty']:02}-\d\d\d$")

    def test_no_answer_is_a_good_guess(self):
        items = read("mini_state_tracking.jsonl")
        for kind in FOLLOW:
            answers = collections.Counter(item["answer"] for item in items if item["kind"] == kind)
            self.assertLess(max(answers.values()) / sum(answers.values()), 0.25, kind)


class DocumentTest(unittest.TestCase):
    def test_every_answer_along_the_way_is_right(self):
        for kind in FOLLOW:
            for turns, keys in documents(kind, 300):
                self.assertEqual(len(turns), len(keys))
                for (_, answer), key in zip(turns, keys):
                    self.assertEqual(answer, f" {FOLLOW[kind](key)[0]}")
        for turns, keys in documents("steps", 300):
            self.assertEqual([prompt for prompt, _ in turns], keys)
            self.assertEqual(turns[0][1], " " + follow_steps(keys[0])[0])

    def test_the_keys_are_the_text_without_the_earlier_questions(self):
        for kind in ("swaps", "permutations", "counter"):
            for turns, keys in documents(kind, 100):
                story = ""
                for (prompt, _), key in zip(turns, keys):
                    self.assertEqual(story + prompt, key)
                    story += prompt[:prompt.index("?")]
        for turns, keys in documents("pointers", 100):
            story = turns[0][0][:turns[0][0].index(";")]
            self.assertEqual([turns[0][0], *(story + prompt for prompt, _ in turns[1:])], keys)

    def test_the_share_of_questions_is_as_documented(self):
        shares = []
        for turns, keys in documents("swaps", 2000):
            operations = FOLLOW["swaps"](keys[-1])[1]
            if operations >= 10:
                shares.append((len(turns) - 1) / (operations - 1))
        always = sum(share == 1 for share in shares) / len(shares)
        never = sum(share == 0 for share in shares) / len(shares)
        self.assertTrue(0.45 < always < 0.6, always)
        self.assertTrue(0.07 < never < 0.19, never)

    def test_all_difficulties_are_taught(self):
        for kind, most in states.DIFFICULTIES.items():
            follow = FOLLOW.get(kind, lambda key: follow_steps(key)[1:])
            taught = {follow(key)[1] for _, keys in documents(kind, 400) for key in keys}
            self.assertEqual(taught, set(range(1, most + 1)), kind)


if __name__ == "__main__":
    unittest.main()
