"""State tracking: a start, k operations, then a question about where things are now, answered at once.

    swaps         Ann red, Ben blue, Cora green, Dan gold, Eva pink; Ann Ben; Cora Eva? Ben -> red
                  (who holds what; each pair of names swaps; the question names one of the five)
    permutations  red blue green gold pink; 3 1 2 5 4? 2 -> red
                  (a row; an order lists the places whose colours stand, from then on, in places 1 to 5)
    pointers      a d, b a, c e, ..., h c; a 3? -> e
                  (where each letter leads to; the question names a start and the number of hops from it)
    counter       mod 7, 3; add 2; double; take 5? -> 5 (counting goes 0 to 6, then 0 again)
    steps         Ann red, ...; Ann Ben; Cora Eva? Ben, step by step:
                      -> blue red green gold pink; blue red pink gold green; Ben red
                  (as swaps, but the answer replays what all five hold after each swap before it names the colour)

The difficulty k is the number of operations (hops for pointers). Training documents ask along the way, since one
question after many operations teaches a small model nothing; a suite's item asks once, at its end. In a document the
next operation, or the next question about a map, follows the answer at once: "; Ann Ben? Ben red; Dan Eva? Ann blue".
The notation is terse since what a model can learn from a given amount of computation depends on the tokens per
operation: an operation on swaps is three, for each word is short and common enough to become one token.
"""
import itertools

NAMES = ["Ann", "Ben", "Cora", "Dan", "Eva", "Finn", "Gus", "Hope"]
COLOURS = ["red", "blue", "green", "gold", "pink", "grey", "black", "white"]
LETTERS = "abcdefgh"
OBJECTS, MODULUS = 5, 7
DIFFICULTIES = {"swaps": 20, "permutations": 10, "pointers": 10, "counter": 20, "steps": 12}  # k goes from 1 to these

# Tables, so that one draw settles a whole arrangement.
NAME_ROWS = list(itertools.permutations(NAMES, OBJECTS))
COLOUR_ROWS = list(itertools.permutations(COLOURS, OBJECTS))
PAIRS = list(itertools.permutations(range(OBJECTS), 2))
ORDERS = [(f"; {' '.join(str(place + 1) for place in order)}", order)
          for order in itertools.permutations(range(OBJECTS)) if order != tuple(range(OBJECTS))]
# (text, factor, summand); every one can be undone, so that nothing that happened before is ever forgotten.
OPERATIONS = ([(f"; add {n}", 1, n) for n in range(1, MODULUS)] + [(f"; take {n}", 1, -n) for n in range(1, MODULUS)] +
              [("; double", 2, 0), ("; triple", 3, 0)] * 2)


class Swaps:
    """Five people who each hold a colour; step() swaps two of them."""

    def __init__(self, r):
        self.names = r.pick(NAME_ROWS)
        self.state = list(r.pick(COLOUR_ROWS))
        self.text = ", ".join(f"{name} {colour}" for name, colour in zip(self.names, self.state))

    def step(self, r):
        a, b = r.pick(PAIRS)
        state, names = self.state, self.names
        state[a], state[b] = state[b], state[a]
        return f"; {names[a]} {names[b]}"

    def ask(self, r):
        at = r.below(OBJECTS)
        return f"? {self.names[at]}", self.state[at]


class Permutations:
    """Five colours in a row; step() puts them in another order."""

    def __init__(self, r):
        self.state = r.pick(COLOUR_ROWS)
        self.text = " ".join(self.state)

    def step(self, r):
        text, order = r.pick(ORDERS)
        self.state = [self.state[place] for place in order]
        return text

    def ask(self, r):
        at = r.below(OBJECTS)
        return f"? {at + 1}", self.state[at]


class Counter:
    """A number counted from 0 to 6 and round again; step() adds, takes away or multiplies."""

    def __init__(self, r):
        self.state = r.below(MODULUS)
        self.text = f"mod {MODULUS}, {self.state}"

    def step(self, r):
        text, factor, summand = r.pick(OPERATIONS)
        self.state = (self.state * factor + summand) % MODULUS
        return text

    def ask(self, _):
        return "?", self.state


class Pointers:
    """A letter for each of eight letters to go to; ask() follows them `hops` times."""

    def __init__(self, r):
        self.next = {letter: r.pick(LETTERS) for letter in LETTERS}
        self.text = ", ".join(f"{start} {end}" for start, end in self.next.items())

    def ask(self, r, hops):
        start = at = r.pick(LETTERS)
        for _ in range(hops):
            at = self.next[at]
        return f"; {start} {hops}?", at


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
    at = r.below(OBJECTS)
    name, colour = story.names[at], story.state[at]
    return f"{text}? {name}, step by step:", "; ".join([*states, f"{name} {colour}"]), colour


def density(r):
    """How often to ask after an operation, in thousandths: always in half of the documents, never in a tenth."""
    draw = r.below(10)
    return 1000 if draw < 5 else r.below(1001) if draw < 9 else 0


def story_document(r, kind):
    """A training document of a story with steps: its turns, and for each question the item that it would be."""
    most = DIFFICULTIES[kind]
    last = max(r.below(most), r.below(most))  # the longer ones hold the shorter ones' questions too
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
