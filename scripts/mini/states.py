"""State tracking: a start, k operations, then a question about where things are now, answered at once.

    swaps         red blue green gold: ab cd ca -> blue
                  (colours at the places a to d; those at the two places named swap; which is at the last first-named, c?)
    permutations  red blue green: bca cab -> red
                  (the places whose colours stand, from then on, at a, b and c; which is at a?)
    walks         start c: next jump mirror -> a
                  (on a ring of places a to e: one on, one back, two on, or to the place as far on the other side of a)
    pointers      ad ba cc db ea fb: e three -> b
                  (where each letter leads to; a start and the number of hops from it)
    steps         red blue green gold: ab cd? b, step by step:
                      -> blue red green gold; blue red gold green; b red
                  (as swaps, but the answer replays what is at all places after each swap before it names the colour)

The difficulty k is the number of operations (hops for pointers). Training documents answer along the way, since one
answer after many operations teaches a small model nothing; a suite's item asks once, at its end. In a document the next
operation, or the next question about a map, follows the answer at once: "red blue green gold: ab blue cd gold ca blue".
The notation is terse since what a model can learn from a given amount of computation depends on the tokens per answer:
an operation is one, for each word is short and common enough to become one, and it asks its question by itself.
"""
import itertools

PLACES = "abcd"
COLOURS = ["red", "blue", "green", "gold"]
RING = "abcde"
LETTERS = "abcdef"
NUMBERS = ["zero", "one", "two", "three", "four", "five", "six"]
# The longest stories of training text (hops for pointers); the shortest have one operation.
LONGEST = {"swaps": 12, "permutations": 8, "pointers": 6, "walks": 12, "steps": 10}
# The difficulties of the suites' items. Of the shortest stories of some kinds there are so few that to keep the items
# out of training text would leave holes in it; the longest are where a small model, however it decodes, only guesses.
DIFFICULTIES = {"swaps": range(1, 11), "permutations": range(2, 7), "pointers": range(1, 7), "walks": range(3, 13),
                "steps": range(1, 11)}

# Tables, so that one draw settles a whole arrangement.
ROWS = list(itertools.permutations(COLOURS))
PAIRS = list(itertools.permutations(range(4), 2))
ORDERS = [(" " + "".join(PLACES[place] for place in order), order) for order in itertools.permutations(range(3))
          if order != (0, 1, 2)]
# What a move makes of a place on the ring, 0 to 4.
MOVES = [(" next", lambda at: at + 1), (" back", lambda at: at - 1), (" jump", lambda at: at + 2),
         (" mirror", lambda at: -at)]


class Swaps:
    """Four places that each hold a colour; step() swaps two of them. The answer is what the first of the two holds."""

    def __init__(self, r):
        self.state = list(r.pick(ROWS))
        self.text = " ".join(self.state) + ":"

    def step(self, r):
        a, b = r.pick(PAIRS)
        state = self.state
        state[a], state[b] = state[b], state[a]
        self.asked = a
        return f" {PLACES[a]}{PLACES[b]}"

    def answer(self):
        return self.state[self.asked]


class Permutations:
    """Three places; step() puts all colours in another order. The answer is what the first place holds."""

    def __init__(self, r):
        self.state = r.sample(COLOURS, 3)
        self.text = " ".join(self.state) + ":"

    def step(self, r):
        text, order = r.pick(ORDERS)
        self.state = [self.state[place] for place in order]
        return text

    def answer(self):
        return self.state[0]


class Walks:
    """A walk on a ring of five places; step() makes a move. The answer is where it has led."""

    def __init__(self, r):
        self.state = r.below(5)
        self.text = f"start {RING[self.state]}:"

    def step(self, r):
        text, move = r.pick(MOVES)
        self.state = move(self.state) % 5
        return text

    def answer(self):
        return RING[self.state]


class Pointers:
    """A letter for each of six letters to go to; ask() follows them `hops` times."""

    def __init__(self, r):
        self.next = {letter: r.pick(LETTERS) for letter in LETTERS}
        self.text = " ".join(f"{start}{end}" for start, end in self.next.items()) + ":"

    def ask(self, r, hops):
        start = at = r.pick(LETTERS)
        for _ in range(hops):
            at = self.next[at]
        return f" {start} {NUMBERS[hops]}", at


STORIES = {"swaps": Swaps, "permutations": Permutations, "walks": Walks}


def question_and_answer(r, kind, k):
    """A suite item's question and answer at difficulty k."""
    if kind == "pointers":
        story = Pointers(r)
        question, answer = story.ask(r, k)
        return story.text + question, answer
    story = STORIES[kind](r)
    text = story.text + "".join([story.step(r) for _ in range(k)])
    return text, story.answer()


def question_with_steps(r, k):
    """The question, the full target and the final colour of `steps` at difficulty k."""
    story = Swaps(r)
    text, states = story.text, []
    for _ in range(k):
        text += story.step(r)
        states.append(" ".join(story.state))
    at = r.below(4)
    place, colour = PLACES[at], story.state[at]
    return f"{text}? {place}, step by step:", "; ".join([*states, f"{place} {colour}"]), colour


def density(r):
    """How often to answer after an operation, in thousandths: always in half of the documents, never in a tenth."""
    draw = r.below(10)
    return 1000 if draw < 5 else r.below(1001) if draw < 9 else 0


def story_document(r, kind):
    """A training document of a story with steps: its turns, and for each answer the item that it would be."""
    most = LONGEST[kind]
    last = r.below(4) if r.below(2) else r.below(most)  # the longer ones hold the shorter ones' questions too
    story, often = STORIES[kind](r), density(r)
    prompt = text = story.text
    turns, keys = [], []
    for i in range(last + 1):
        operation = story.step(r)
        prompt += operation
        text += operation
        if i == last or often == 1000 or (often and r.below(1000) < often):
            turns.append([prompt, f" {story.answer()}"])
            keys.append(text)
            prompt = ""
    return turns, keys


def swaps_document(r):
    return story_document(r, "swaps")


def permutations_document(r):
    return story_document(r, "permutations")


def walks_document(r):
    return story_document(r, "walks")


def pointers_document(r):
    """One map and up to ten questions about it, one only in a tenth of the documents."""
    story = Pointers(r)
    count = 1 if r.below(10) == 0 else r.between(2, 10)
    turns, keys, prompt = [], [], story.text
    for _ in range(count):
        question, answer = story.ask(r, r.between(1, LONGEST["pointers"]))
        turns.append([prompt + question, f" {answer}"])
        keys.append(story.text + question)
        prompt = ""
    return turns, keys


def steps_document(r):
    question, working, _ = question_with_steps(r, r.between(1, LONGEST["steps"]))
    return [[question, " " + working]], [question]


DOCUMENTS = {"swaps": swaps_document, "permutations": permutations_document, "pointers": pointers_document,
             "walks": walks_document, "steps": steps_document}


def make_states(r, count):
    """`count` items, the kinds in turn and each kind's difficulties in turn, no question twice."""
    turn = ["swaps", "permutations", "swaps", "pointers", "walks"]
    made, seen, items = dict.fromkeys(turn, 0), set(), []
    while len(items) < count:
        kind = turn[len(items) % len(turn)]
        levels = DIFFICULTIES[kind]
        k = levels[made[kind] % len(levels)]
        question, answer = question_and_answer(r, kind, k)
        if question in seen:
            continue
        seen.add(question)
        items.append({"id": f"{kind}-{k:02}-{made[kind] // len(levels) + 1:03}", "kind": kind, "difficulty": k,
                      "question": question, "answer": answer})
        made[kind] += 1
    return items


def make_steps(r, count):
    """`count` items with the working to show, the difficulties in turn, no question twice."""
    items, seen = [], set()
    while len(items) < count:
        levels = DIFFICULTIES["steps"]
        k = levels[len(items) % len(levels)]
        question, working, answer = question_with_steps(r, k)
        if question in seen:
            continue
        seen.add(question)
        items.append({"id": f"steps-{k:02}-{len(items) // len(levels) + 1:03}", "kind": "steps", "difficulty": k,
                      "question": question, "answer": answer, "working": working})
    return items


def item_key(item):
    return item["question"]
