"""State tracking: a start, k operations, then a question about where things are now, answered at once.

    swaps         red blue green gold pink: ab ce? b -> red
                  (the colours at the places a to e; the colours at a and b, then at c and e, swap; which is at b?)
    permutations  red blue green gold pink: bedca? b -> pink
                  (as above; an order lists the places whose colours stand, from then on, at a to e)
    pointers      ad ba ce db ... hc: a three? -> a
                  (where each letter leads to; the question names a start and the number of hops from it)
    counter       start three: two double five? -> one
                  (numbers are added, or the word says what is done; counting goes from zero to six, then zero again)
    steps         red blue green gold pink: ab ce? b, step by step:
                      -> blue red green gold pink; blue red pink gold green; b red
                  (as swaps, but the answer replays what is at all places after each swap before it names the colour)

The difficulty k is the number of operations (hops for pointers). Training documents ask along the way, since one
question after many operations teaches a small model nothing; a suite's item asks once, at its end. In a document the
next operation, or the next question about a map, follows the answer at once: "ab? b red ce? a blue".
The notation is terse since what a model can learn from a given amount of computation depends on the tokens per
operation: here each operation is one, for each word is short and common enough to become one token.
"""
import itertools

PLACES = "abcde"
COLOURS = ["red", "blue", "green", "gold", "pink"]
LETTERS = "abcdefgh"
NUMBERS = ["zero", "one", "two", "three", "four", "five", "six"]
MODULUS = 7
DIFFICULTIES = {"swaps": 16, "permutations": 8, "pointers": 6, "counter": 12, "steps": 10}  # k goes from 1 to these

# Tables, so that one draw settles a whole arrangement.
ROWS = list(itertools.permutations(COLOURS))
PAIRS = list(itertools.combinations(range(5), 2))
ORDERS = [(" " + "".join(PLACES[place] for place in order), order)
          for order in list(itertools.permutations(range(5)))[5::6]]
# (text, factor, summand); every one can be undone, so that nothing that happened before is ever forgotten.
OPERATIONS = [(f" {NUMBERS[n]}", 1, n) for n in range(1, MODULUS)] + [(" double", 2, 0), (" triple", 3, 0)] * 2


class Swaps:
    """Five places that each hold a colour; step() swaps two of them."""

    def __init__(self, r):
        self.state = list(r.pick(ROWS))
        self.text = " ".join(self.state) + ":"

    def step(self, r):
        a, b = r.pick(PAIRS)
        state = self.state
        state[a], state[b] = state[b], state[a]
        return f" {PLACES[a]}{PLACES[b]}"

    def ask(self, r):
        at = r.below(5)
        return f"? {PLACES[at]}", self.state[at]


class Permutations(Swaps):
    """The same places; step() puts all colours in another order."""

    def step(self, r):
        text, order = r.pick(ORDERS)
        self.state = [self.state[place] for place in order]
        return text


class Counter:
    """A number counted from 0 to 6 and round again; step() adds to it or multiplies it."""

    def __init__(self, r):
        self.state = r.below(MODULUS)
        self.text = f"start {NUMBERS[self.state]}:"

    def step(self, r):
        text, factor, summand = r.pick(OPERATIONS)
        self.state = (self.state * factor + summand) % MODULUS
        return text

    def ask(self, _):
        return "?", NUMBERS[self.state]


class Pointers:
    """A letter for each of eight letters to go to; ask() follows them `hops` times."""

    def __init__(self, r):
        self.next = {letter: r.pick(LETTERS) for letter in LETTERS}
        self.text = " ".join(f"{start}{end}" for start, end in self.next.items()) + ":"

    def ask(self, r, hops):
        start = at = r.pick(LETTERS)
        for _ in range(hops):
            at = self.next[at]
        return f" {start} {NUMBERS[hops]}?", at


STORIES = {"swaps": Swaps, "permutations": Permutations, "counter": Counter}


def question_and_answer(r, kind, k):
    """A suite item's question and answer at difficulty k."""
    if kind == "pointers":
        story = Pointers(r)
        question, answer = story.ask(r, k)
        return story.text + question, answer
    story = STORIES[kind](r)
    text = story.text + "".join([story.step(r) for _ in range(k)])
    question, answer = story.ask(r)
    return text + question, str(answer)


def question_with_steps(r, k):
    """The question, the full target and the final colour of `steps` at difficulty k."""
    story = Swaps(r)
    text, states = story.text, []
    for _ in range(k):
        text += story.step(r)
        states.append(" ".join(story.state))
    at = r.below(5)
    name, colour = PLACES[at], story.state[at]
    return f"{text}? {name}, step by step:", "; ".join([*states, f"{name} {colour}"]), colour


def density(r):
    """How often to ask after an operation, in thousandths: always in half of the documents, never in a tenth."""
    draw = r.below(10)
    return 1000 if draw < 5 else r.below(1001) if draw < 9 else 0


def story_document(r, kind):
    """A training document of a story with steps: its turns, and for each question the item that it would be."""
    most = DIFFICULTIES[kind]
    last = r.below(4) if r.below(2) else r.below(most)  # the longer ones hold the shorter ones' questions too
    story, often = STORIES[kind](r), density(r)
    prompt = text = story.text
    turns, keys = [], []
    for i in range(last + 1):
        operation = story.step(r)
        prompt += operation
        text += operation
        if i == last or often == 1000 or (often and r.below(1000) < often):
            question, answer = story.ask(r)
            turns.append([prompt + question, f" {answer}"])
            keys.append(text + question)
            prompt = ""
    return turns, keys


def swaps_document(r):
    return story_document(r, "swaps")


def permutations_document(r):
    return story_document(r, "permutations")


def counter_document(r):
    return story_document(r, "counter")


def pointers_document(r):
    """One map and up to ten questions about it, one only in a tenth of the documents."""
    story = Pointers(r)
    count = 1 if r.below(10) == 0 else r.between(2, 10)
    turns, keys, prompt = [], [], story.text
    for _ in range(count):
        question, answer = story.ask(r, r.between(1, DIFFICULTIES["pointers"]))
        turns.append([prompt + question, f" {answer}"])
        keys.append(story.text + question)
        prompt = ""
    return turns, keys


def steps_document(r):
    question, working, _ = question_with_steps(r, r.between(1, DIFFICULTIES["steps"]))
    return [[question, " " + working]], [question]


DOCUMENTS = {"swaps": swaps_document, "permutations": permutations_document, "pointers": pointers_document,
             "counter": counter_document, "steps": steps_document}


def make_states(r, count):
    """`count` items, the kinds in turn and each kind's difficulties in turn, no question twice."""
    turn = ["swaps", "permutations", "swaps", "pointers", "counter"]
    made, seen, items = dict.fromkeys(turn, 0), set(), []
    while len(items) < count:
        kind = turn[len(items) % len(turn)]
        k = made[kind] % DIFFICULTIES[kind] + 1
        question, answer = question_and_answer(r, kind, k)
        if question in seen:
            continue
        seen.add(question)
        items.append({"id": f"{kind}-{k:02}-{made[kind] // DIFFICULTIES[kind] + 1:03}", "kind": kind, "difficulty": k,
                      "question": question, "answer": answer})
        made[kind] += 1
    return items


def make_steps(r, count):
    """`count` items with the working to show, the difficulties in turn, no question twice."""
    items, seen = [], set()
    while len(items) < count:
        most = DIFFICULTIES["steps"]
        k = len(items) % most + 1
        question, working, answer = question_with_steps(r, k)
        if question in seen:
            continue
        seen.add(question)
        items.append({"id": f"steps-{k:02}-{len(items) // most + 1:03}", "kind": "steps", "difficulty": k,
                      "question": question, "answer": answer, "working": working})
    return items


def item_key(item):
    return item["question"]
