"""Long prompts, made to a length: a fact to find again in filler text, and who holds what after moves told in several
documents.

    needle          filler with four facts, "The code of the green lamp is 48213."; one is asked for, at a stated depth
    state_tracking  documents of filler in which things change hands, "Anna gives the lamp to Ben."; who has one at last?

A length is the words of the context, counted between white space, so that it is the same for every tokenizer; English
has about 1.3 tokens a word. A context falls short of its length by less than a sentence, and never exceeds it. Filler is
made by a small grammar and says nothing of the codes, people and things that questions are about.
"""
import json

from .draws import Random
from .problems import PEOPLE

LENGTHS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
DEPTHS = (0, 25, 50, 75, 100)  # percent of the other words that stand before the fact
MOVES = (1, 2, 4)  # of the thing asked about, and of each of the two others
SHORTEST = 128  # words: what the facts and moves alone need, and some filler between them
ITEMS = {"needle": 400, "state_tracking": 360}
SEEDS = {"needle": 11, "state_tracking": 12}

COLOURS = ["red", "blue", "green", "yellow", "white", "black", "brown", "purple"]
OBJECTS = ["lamp", "door", "box", "safe", "bicycle", "locker", "suitcase", "cupboard", "gate", "drawer"]
HELD = ["lantern", "compass", "whistle", "map", "ladder", "basket", "hammer", "umbrella", "kettle", "blanket"]
OTHER_FACTS = 3
HELD_THINGS, HOLDERS = 3, 6
WORDS_IN_A_DOCUMENT = 128

TIMES = ["In the morning", "At noon", "In the evening", "After the rain", "Before the storm", "On market days",
         "Late in autumn", "At the end of winter", "During the holidays", "Now and then"]
LOOKS = ["little", "quiet", "narrow", "crowded", "sunny", "dusty", "famous", "distant", "wooden", "peaceful"]
PLACES = ["harbour", "station", "village", "bridge", "garden", "museum", "bakery", "valley", "orchard", "library",
          "market", "mill"]
ACTORS = ["the fishermen", "the farmers", "two painters", "the gardeners", "some travellers", "the musicians",
          "a few sailors", "the neighbours", "the carpenters", "several students"]
DEEDS = ["talk about the weather", "wait for the ferry", "mend their nets", "drink tea together", "read the newspaper",
         "listen to the wind", "sing a merry song", "rest under the trees", "look at the mountains", "tell long stories"]
VIEWS = ["covered with snow", "full of visitors", "closed for repairs", "painted every spring", "known for its echo",
         "surrounded by meadows", "almost empty", "lit by candles", "open to everyone", "visited by cranes"]


def filler(r):
    """A sentence of up to sixteen words."""
    (here, there), look, view = r.sample(PLACES, 2), r.pick(LOOKS), r.pick(VIEWS)
    sort = r.below(4)
    if sort == 0:
        return f"{r.pick(TIMES)} {r.pick(ACTORS)} {r.pick(DEEDS)} near the {look} {here}."
    if sort == 1:
        return f"{r.pick(TIMES)} the {look} {here} is {view}."
    if sort == 2:
        return f"Behind the {here} there is a {look} {there}, {view}."
    return f"From the {here} to the {there} the road is {look} and {view}."


def words(text):
    return len(text.split())


def fillers(r, room):
    """Sentences of filler that together have at most `room` words, and no room for another."""
    made = []
    while True:
        sentence = filler(r)
        room -= words(sentence)
        if room < 0:
            return made
        made.append(sentence)


def at_depth(sentences, sentence, depth):
    """`sentence` among the others, where the share of their words before it is nearest to `depth` percent."""
    counts = [words(other) for other in sentences]
    before, places = 0, [0]
    for count in counts:
        before += count
        places.append(before)
    place = min(range(len(places)), key=lambda i: (abs(100 * places[i] - depth * before), i))
    return sentences[:place] + [sentence] + sentences[place:]


def needle(r, length, depth):
    """A context with four facts, and what is asked of it."""
    codes, facts = set(), []
    for colour, thing in zip(r.sample(COLOURS, 1 + OTHER_FACTS), r.sample(OBJECTS, 1 + OTHER_FACTS)):
        code = r.between(10000, 99999)
        while code in codes:
            code = r.between(10000, 99999)
        codes.add(code)
        facts.append((f"{colour} {thing}", str(code)))
    told = [f"The code of the {name} is {code}." for name, code in facts]
    sentences = fillers(r, length - sum(words(fact) for fact in told))
    for fact in told[1:]:
        sentences.insert(r.below(len(sentences) + 1), fact)
    (name, code), context = facts[0], " ".join(at_depth(sentences, told[0], depth))
    return {"context": context, "question": f"What is the code of the {name}?",
            "stem": f"The code of the {name} is", "answer": code}


def moves_of(r, holders, things, moves):
    """The things' first holders, and who gives what to whom: each thing `moves` times, in random turns."""
    at = {thing: r.pick(holders) for thing in things}
    starts, told = [f"{at[thing]} has the {thing}." for thing in things], []
    for thing in r.shuffled([thing for thing in things for _ in range(moves)]):
        receiver = r.pick([person for person in holders if person != at[thing]])
        told.append(f"{at[thing]} gives the {thing} to {receiver}.")
        at[thing] = receiver
    return starts, told, at


def state_tracking(r, length, moves):
    """Documents in which things change hands, and who has one of them at last."""
    holders = r.sample([name for name, _ in PEOPLE], HOLDERS)
    things = r.sample(HELD, HELD_THINGS)
    starts, told, at = moves_of(r, holders, things, moves)
    documents = max(2, length // WORDS_IN_A_DOCUMENT)
    heads = [f"Document {number + 1} of {documents}" for number in range(documents)]
    sentences = fillers(r, length - sum(words(text) for text in heads + starts + told))
    count = len(sentences)
    # The moves are spread evenly: each stands somewhere in its own stretch of the filler, so in most of the documents.
    places = [count * i // len(told) + r.below(max(count // len(told), 1)) for i in range(len(told))]
    for place, move in reversed(list(zip(places, told))):
        sentences.insert(place, move)
    sentences = r.shuffled(starts) + sentences
    parts = [sentences[len(sentences) * i // documents:len(sentences) * (i + 1) // documents]
             for i in range(documents)]
    context = "\n\n".join(f"{head}\n{' '.join(part)}" for head, part in zip(heads, parts))
    return {"context": context, "question": f"Who has the {things[0]} at the end?",
            "stem": f"The person who has the {things[0]} at the end is", "answer": at[things[0]]}


MAKERS = {"needle": (needle, "depth", DEPTHS), "state_tracking": (state_tracking, "moves", MOVES)}


def make_long(r, kind, count, lengths=LENGTHS):
    """`count` items of a kind, the lengths in turn; each length meets every depth, or number of moves, in turn."""
    make, name, levels = MAKERS[kind]
    items = []
    for i in range(count):
        turn, place = divmod(i, len(lengths))
        length, level = lengths[place], levels[(turn + place) % len(levels)]
        items.append({"id": f"{kind}-{length:05}-{level:03}-{turn // len(levels) + 1:03}", "length": length, name: level,
                      **make(r, length, level)})
    return items


def json_lines(kind, count=None, lengths=LENGTHS, seed=0):
    """The items as they stand in a data file: UTF-8, one a line."""
    items = make_long(Random(SEEDS[kind] + 100 * seed), kind, count or ITEMS[kind], lengths)
    return "".join(json.dumps(item) + "\n" for item in items).encode("ascii")
