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


NUMBERS = ("zero", "one", "two", "three", "four", "five", "six")


def split_row(text, places):
    """The colours of a start and the words behind it."""
    start, _, rest = text.partition(":")
    row = start.split(" ")
    if len(row) != places or len({*row} & {"blue", "gold", "green", "red"}) != places:
        raise ValueError(start)
    return row, rest.split()


def replay_swaps(text):
    """The row after the start and after each swap, and the swaps."""
    row, swaps = split_row(text, 4)
    after = [list(row)]
    for swap in swaps:
        a, b = re.fullmatch(r"([a-d])([a-d])", swap).groups()
        if a == b:
            raise ValueError(swap)
        i, j = "abcd".index(a), "abcd".index(b)
        row[i], row[j] = row[j], row[i]
        after.append(list(row))
    return after, swaps


def follow_swaps(text):
    after, swaps = replay_swaps(text)
    return after[-1]["abcd".index(swaps[-1][0])], len(swaps)


def follow_permutations(text):
    row, orders = split_row(text, 3)
    for order in orders:
        if sorted(order) != list("abc"):
            raise ValueError(order)
        row = [row["abc".index(letter)] for letter in order]
    return row[0], len(orders)


def follow_pointers(text):
    pairs, start, hops = re.fullmatch(r"(.*): ([a-f]) (\w+)", text).groups()
    arrows = dict(re.fullmatch(r"([a-f])([a-f])", pair).groups() for pair in pairs.split(" "))
    at = start
    for _ in range(NUMBERS.index(hops)):
        at = arrows[at]
    return at, NUMBERS.index(hops)


def follow_walks(text):
    start, rest = re.fullmatch(r"start ([a-e]):((?: \w+)+)", text).groups()
    ring = "abcde"
    for word in rest.split():
        at = ring.index(start)
        start = {"next": ring[at - 4], "back": ring[at - 1], "jump": ring[at - 3], "mirror": "aedcb"[at]}[word]
    return start, len(rest.split())


FOLLOW = {"swaps": follow_swaps, "permutations": follow_permutations, "pointers": follow_pointers,
          "walks": follow_walks}


def follow_steps(question):
    """The working and the answer that `question` asks for, and the number of swaps."""
    story, place = re.fullmatch(r"(.*)\? ([a-d]), step by step:", question).groups()
    after, _ = replay_swaps(story)
    replay = "".join(" ".join(row) + "; " for row in after[1:])
    colour = after[-1]["abcd".index(place)]
    return f"{replay}{place} {colour}", colour, len(after) - 1


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
        self.assertEqual(len(items), 1000)
        counts = collections.Counter((item["kind"], item["difficulty"]) for item in items)
        of_kind = {"swaps": 400, "permutations": 200, "pointers": 200, "walks": 200}
        for kind, total in of_kind.items():
            levels = states.DIFFICULTIES[kind]
            each = [counts[kind, k] for k in levels]
            self.assertEqual((sum(each), max(each) - min(each) <= 1), (total, True), kind)
        self.assertEqual(len(counts), sum(len(states.DIFFICULTIES[kind]) for kind in of_kind))
        steps = read("mini_state_tracking_steps.jsonl")
        self.assertEqual(collections.Counter(item["difficulty"] for item in steps), {k: 50 for k in range(1, 11)})
        first = collections.Counter((item["kind"], item["difficulty"]) for item in items[:100])
        self.assertEqual({kind: sum(n for (name, _), n in first.items() if name == kind) for kind in FOLLOW},
                         {"swaps": 40, "permutations": 20, "pointers": 20, "walks": 20})
        self.assertEqual(set(first), set(counts))  # so a run of the first hundred sees every difficulty

    def test_ids_and_questions_are_unique(self):
        items = read("mini_state_tracking.jsonl") + read("mini_state_tracking_steps.jsonl")
        self.assertEqual(len({item["id"] for item in items}), 1500)
        self.assertEqual(len({item["question"] for item in items}), 1500)
        for item in items:
            self.assertRegex(item["id"], rf"^{item['kind']}-{item['difficulty']:02}-\d\d\d$")

    def test_no_answer_is_a_good_guess(self):
        items = read("mini_state_tracking.jsonl")
        for kind in FOLLOW:
            answers = collections.Counter(item["answer"] for item in items if item["kind"] == kind)
            self.assertLess(max(answers.values()) / sum(answers.values()), 0.4, kind)


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
        for kind in ("swaps", "permutations", "walks"):
            for turns, keys in documents(kind, 100):
                story = ""
                for (prompt, _), key in zip(turns, keys):
                    self.assertEqual(story + prompt, key)
                    story += prompt
        for turns, keys in documents("pointers", 100):
            story = turns[0][0][:turns[0][0].index(":") + 1]
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
        for kind, most in states.LONGEST.items():
            follow = FOLLOW.get(kind, lambda key: follow_steps(key)[1:])
            taught = {follow(key)[1] for _, keys in documents(kind, 400) for key in keys}
            self.assertEqual(taught, set(range(1, most + 1)), kind)


if __name__ == "__main__":
    unittest.main()
