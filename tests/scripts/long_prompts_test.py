"""The generated long prompts: every answer worked out again from the text, lengths and places counted in it."""
import collections
import copy
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HOME = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = HOME / "scripts" / "make_long"
LENGTHS = "128,256,512,1024,2048"
LONGEST_SENTENCE = 16  # words
FACT = re.compile(r"The code of the ([a-z]+ [a-z]+) is (\d{5})\.")
START = re.compile(r"([A-Z]\w+) has the (\w+)\.")
MOVE = re.compile(r"([A-Z]\w+) gives the (\w+) to ([A-Z]\w+)\.")


def made(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "made.jsonl"
        done = subprocess.run([sys.executable, "-B", SCRIPT, *arguments, "--out", path], capture_output=True, text=True,
                              check=True)
        content = path.read_bytes()
    assert done.stdout.startswith(hashlib.sha256(content).hexdigest())
    return content


def items_of(content):
    return [json.loads(line) for line in content.splitlines()]


def sentences_of(context):
    """The sentences, headings of documents left out."""
    text = re.sub(r"^Document \d+ of \d+$", "", context, flags=re.MULTILINE)
    return [sentence.strip() + "." for sentence in text.split(".") if sentence.strip()]


def needle_faults(item):
    """What is wrong with an item of the kind needle, in words."""
    facts = FACT.findall(item["context"])
    asked = re.fullmatch(r"What is the code of the (.+)\?", item["question"]).group(1)
    if len(facts) != 4 or len({name for name, _ in facts}) != 4 or len({code for _, code in facts}) != 4:
        yield "there are not four different facts"
    if dict(facts).get(asked) != item["answer"]:
        yield "the answer is not the code"
    if item["stem"] != f"The code of the {asked} is":
        yield "the stem begins another sentence"
    told = f"The code of the {asked} is {item['answer']}."
    before, _, behind = item["context"].partition(told)
    counts = len(before.split()), len(behind.split())
    if abs(item["depth"] * sum(counts) / 100 - counts[0]) > LONGEST_SENTENCE / 2:
        yield "it stands at another depth"
    if item["id"] != f"needle-{item['length']:05}-{item['depth']:03}-{item['id'][-3:]}":
        yield "the id says something else"


def state_faults(item):
    """What is wrong with an item of the kind state_tracking; follows what happens, sentence by sentence."""
    holders, moves, first = {}, collections.Counter(), True
    for sentence in sentences_of(item["context"]):
        if start := START.fullmatch(sentence):
            if not first or start.group(2) in holders:
                yield "something is held anew"
            holders[start.group(2)] = start.group(1)
            continue
        first = False
        if move := MOVE.fullmatch(sentence):
            giver, thing, receiver = move.groups()
            if holders.get(thing) != giver or giver == receiver:
                yield "someone gives away what is not theirs"
            holders[thing] = receiver
            moves[thing] += 1
    asked = re.fullmatch(r"Who has the (\w+) at the end\?", item["question"]).group(1)
    if holders.get(asked) != item["answer"]:
        yield "the answer is not the last holder"
    if set(moves.values()) != {item["moves"]} or len(moves) != 3:
        yield "there are other numbers of moves"
    if item["stem"] != f"The person who has the {asked} at the end is":
        yield "the stem begins another sentence"
    documents = re.findall(r"^Document (\d+) of (\d+)$", item["context"], re.MULTILINE)
    count = max(2, item["length"] // 128)
    if documents != [(str(i + 1), str(count)) for i in range(count)]:
        yield "the documents are not counted right"


def length_faults(item):
    missing = item["length"] - len(item["context"].split())
    if not 0 <= missing < LONGEST_SENTENCE:
        yield f"{missing} words are missing"
    if max(len(sentence.split()) for sentence in sentences_of(item["context"])) > LONGEST_SENTENCE:
        yield "a sentence is longer"


FAULTS = {"needle": needle_faults, "state_tracking": state_faults}


def faults(kind, item):
    return [*FAULTS[kind](item), *length_faults(item)]


class LongPrompts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.items = {kind: items_of(made(kind, "--lengths", LENGTHS, "--items", "150")) for kind in FAULTS}

    def test_the_same_seed_gives_the_same_bytes_and_another_others(self):
        for kind in FAULTS:
            arguments = (kind, "--lengths", "128,300", "--items", "12")
            self.assertEqual(made(*arguments), made(*arguments))
            self.assertNotEqual(made(*arguments), made(*arguments, "--seed", "1"))

    def test_every_item_is_what_it_says(self):
        for kind, items in self.items.items():
            for item in items:
                self.assertEqual(faults(kind, item), [], item["id"])

    def test_planted_faults_are_seen(self):
        for kind, change in (
            ("needle", lambda item: item.update(answer="12345")),
            ("needle", lambda item: item.update(depth=(item["depth"] + 50) % 150)),
            ("needle", lambda item: item.update(length=item["length"] + 20)),
            ("needle", lambda item: item.update(context=FACT.sub("", item["context"], count=1))),
            ("state_tracking", lambda item: item.update(answer="Nobody")),
            ("state_tracking", lambda item: item.update(moves=item["moves"] + 1)),
            ("state_tracking", lambda item: item.update(length=item["length"] * 2)),
            ("state_tracking", lambda item: item.update(context=MOVE.sub("It rains.", item["context"], count=1))),
        ):
            for item in self.items[kind][:30]:
                changed = copy.deepcopy(item)
                change(changed)
                self.assertNotEqual(faults(kind, changed), [], item["id"])

    def test_each_length_meets_each_level_alike(self):
        for kind, level, levels in (("needle", "depth", [0, 25, 50, 75, 100]), ("state_tracking", "moves", [1, 2, 4])):
            items, lengths = self.items[kind], [int(length) for length in LENGTHS.split(",")]
            counts = collections.Counter((item["length"], item[level]) for item in items)
            self.assertEqual(set(counts.values()), {len(items) // (len(lengths) * len(levels))})
            self.assertEqual(len(counts), len(lengths) * len(levels))
            # Whatever limit a run has, it asks all lengths alike.
            self.assertEqual([item["length"] for item in items[:2 * len(lengths)]], lengths * 2)
            self.assertEqual(len({item["id"] for item in items}), len(items))

    def test_nothing_but_the_text_tells_the_answer(self):
        # Which of the four facts is asked for, by its place among them, and who is asked about: no place wins.
        places = collections.Counter()
        for item in self.items["needle"]:
            if item["depth"] == 50:
                places[[code for _, code in FACT.findall(item["context"])].index(item["answer"])] += 1
        self.assertLess(max(places.values()), 0.75 * sum(places.values()))
        first, last, people = 0, 0, collections.Counter()
        for item in self.items["state_tracking"]:
            receivers = [receiver for _, _, receiver in MOVE.findall(item["context"])]
            first += START.search(item["context"]).group(2) in item["question"]
            last += receivers[-1] == item["answer"]
            people[item["answer"]] += 1
        count = len(self.items["state_tracking"])
        self.assertLess(first, 0.5 * count)
        self.assertLess(last, 0.65 * count)
        self.assertLess(max(people.values()), 0.15 * count)

    def test_moves_are_spread_over_the_documents(self):
        for item in self.items["state_tracking"]:
            documents = re.split(r"^Document \d+ of \d+$", item["context"], flags=re.MULTILINE)[1:]
            holding = sum(bool(MOVE.search(document)) for document in documents)
            self.assertGreaterEqual(holding, min(len(documents), 3 * item["moves"]) / 2, item["id"])

    def test_refuses_what_it_cannot_make(self):
        for arguments in (("needle", "--lengths", "127"), ("needle", "--lengths", "128,128"), ("needle", "--items", "0"),
                          ("needle", "--lengths", "many"), ("hay",)):
            done = subprocess.run([sys.executable, "-B", SCRIPT, *arguments, "--out", "/dev/null"], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 2, arguments)
        done = subprocess.run([sys.executable, "-B", SCRIPT, "needle", "--items", "1", "--out", "/dev/null/x"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "make_long: /dev/null/x: cannot be written: Not a directory\n"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
