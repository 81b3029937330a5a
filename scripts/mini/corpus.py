"""Training text of the same kinds as the bundled suites, without any of their items.

A document is one JSON line, {"turns": [[prompt, answer], ...]}: the pieces joined as they are make its text, and the
loss is on the answers. A maker also says which items each of its documents asks; a document that asks a suite's item
is left out, and so is a long one. Lines go to the disk as they are made, so that the size of a corpus costs no memory.
"""
import json
import os

from . import choices, code, maths, problems, states
from .draws import Random

# The suites' files whose items are kept out, and how each names what it asks.
SUITES = {"mini_state_tracking.jsonl": states.item_key, "mini_state_tracking_steps.jsonl": states.item_key,
          "mini_gsm8k.jsonl": problems.item_key, "mini_gsm8k_shots.jsonl": problems.item_key,
          "mini_choice.jsonl": choices.item_key, "mini_maths.jsonl": maths.item_key,
          "mini_humaneval.jsonl": code.humaneval_key, "mini_mbpp.jsonl": code.mbpp_key}
DOCUMENTS = {**states.DOCUMENTS, **problems.DOCUMENTS, **choices.DOCUMENTS, **maths.DOCUMENTS, **code.DOCUMENTS}
# Shares of the documents, in percent where all kinds are in.
MIX = {"swaps": 38, "permutations": 13, "walks": 12, "pointers": 12, "steps": 5, "problems": 6, "choices": 8,
       "maths": 4, "humaneval": 1, "mbpp": 1}
# In characters, about 250 tokens: training takes rows of one length, and cuts a document that is longer than a row.
LONGEST = 620
GROUPS = {"states": ["swaps", "permutations", "pointers", "walks"], "code": ["humaneval", "mbpp"]}


class Error(Exception):
    """What is wrong with the request, and what to do."""


def kinds_of(text):
    """The default shares of the kinds and groups of kinds that `text` lists."""
    kinds = []
    for name in text.split(","):
        kinds += GROUPS.get(name, [name])
    unknown = [kind for kind in kinds if kind not in DOCUMENTS]
    if unknown:
        raise Error(f"--kinds: there is no kind \"{unknown[0]}\"; there are {', '.join([*GROUPS, *DOCUMENTS])}")
    return {kind: MIX[kind] for kind in kinds}


def mix_of(text):
    """The shares that `text` states, as in swaps=40,problems=60: whole percents that add up to 100."""
    mix = {}
    for part in text.split(","):
        kind, _, share = part.partition("=")
        if kind not in DOCUMENTS:
            raise Error(f"--mix: there is no kind \"{kind}\"; there are {', '.join(DOCUMENTS)}")
        if not share.isdecimal() or int(share) == 0 or kind in mix:
            raise Error(f"--mix: \"{part}\" is not KIND=PERCENT with a whole number from 1 on, each kind once")
        mix[kind] = int(share)
    if sum(mix.values()) != 100:
        raise Error(f"--mix: the percents add up to {sum(mix.values())}, not to 100")
    return mix


def keys_of_suites(folder):
    """What the suites' items ask, as the documents' makers say it."""
    keys = set()
    for name, item_key in SUITES.items():
        path = os.path.join(folder, name)
        try:
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    try:
                        keys.add(item_key(json.loads(line)))
                    except (ValueError, KeyError, TypeError) as error:
                        raise Error(f"{path}, line {number} is no item of this suite: {error!r}") from error
        except OSError as error:
            raise Error(f"{path}: {error.strerror}; scripts/make_mini without --corpus writes the suites") from error
    return keys


class Corpus:
    """An endless row of documents, the same for the same seed and mix; `skipped` counts those left out as a suite's
    item."""

    def __init__(self, seed, mix, kept_out):
        # Far from the suites' seeds, which are small, so that the streams do not meet.
        self.random = Random((seed + 1) * 0x5851F42D4C957F2D)
        self.table = [DOCUMENTS[kind] for kind, share in mix.items() for _ in range(share)]
        self.kept_out = kept_out
        self.skipped = 0
        self.encode = json.JSONEncoder(ensure_ascii=False).encode

    def next(self):
        """The next document's JSON, with a newline, and the items that it asks."""
        while True:
            turns, keys = self.random.pick(self.table)(self.random)
            if sum(len(prompt) + len(answer) for prompt, answer in turns) > LONGEST:
                continue
            if self.kept_out.isdisjoint(keys):
                return self.encode({"turns": turns}) + "\n", tuple(keys)
            self.skipped += 1


def held_out_path(path):
    root, _ = os.path.splitext(path)
    return root + ".held_out.jsonl"


def write_corpus(path, documents, seed, mix, suites):
    """Writes `documents` lines to `path` and a hundredth as many others beside it; returns how many these are, and how
    many documents were left out as a suite's items and as held-out documents."""
    corpus = Corpus(seed, mix, keys_of_suites(suites))
    # A fact is asked with other choices in the same words, a function under another name: either would be a repetition.
    lines, asked, repeated = {}, set(), 0
    while len(lines) < max(1, documents // 100):
        line, keys = corpus.next()
        if line not in lines and keys not in asked:
            lines[line] = None  # a dictionary keeps the order
            asked.add(keys)
    with open(held_out_path(path), "w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for _ in range(documents):
            line, keys = corpus.next()
            while line in lines or keys in asked:
                repeated += 1
                line, keys = corpus.next()
            file.write(line)
    return len(lines), corpus.skipped, repeated
