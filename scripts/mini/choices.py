"""Four-way choices: sums, sizes, kinds, simple facts, in the layout of MosaicML's multiple-choice files. Each maker
returns the query, the right choice and three wrong ones, of one kind with it."""

CAPITALS = {"France": "Paris", "Japan": "Tokyo", "Italy": "Rome", "Spain": "Madrid", "Egypt": "Cairo", "Greece": "Athens",
            "Norway": "Oslo", "Peru": "Lima", "Cuba": "Havana", "Kenya": "Nairobi", "Germany": "Berlin",
            "Austria": "Vienna", "Russia": "Moscow", "China": "Beijing", "Portugal": "Lisbon", "Ireland": "Dublin",
            "Poland": "Warsaw", "Hungary": "Budapest", "Canada": "Ottawa", "Thailand": "Bangkok", "Sweden": "Stockholm",
            "Finland": "Helsinki", "Iran": "Tehran", "Iraq": "Baghdad", "Chile": "Santiago", "Denmark": "Copenhagen"}
YOUNG = {"cat": "kitten", "dog": "puppy", "cow": "calf", "horse": "foal", "sheep": "lamb", "goat": "kid", "hen": "chick",
         "duck": "duckling", "frog": "tadpole", "lion": "cub", "goose": "gosling", "swan": "cygnet", "deer": "fawn"}
OPPOSITES = {"hot": "cold", "big": "small", "fast": "slow", "early": "late", "empty": "full", "alive": "dead",
             "light": "dark", "old": "young", "open": "closed", "rich": "poor", "strong": "weak", "wet": "dry",
             "loud": "quiet", "high": "low", "cheap": "costly", "clean": "dirty", "happy": "sad", "sharp": "blunt",
             "first": "last", "wide": "narrow"}
KINDS = {"a fruit": ["apple", "pear", "fig", "melon", "banana", "grape", "mango", "strawberry"],
         "a tool": ["hammer", "saw", "drill", "chisel", "pliers", "spanner", "wrench", "axe"],
         "an animal": ["horse", "rabbit", "tiger", "otter", "camel", "badger", "monkey", "wolf"],
         "a colour": ["red", "blue", "green", "yellow", "purple", "brown", "pink", "grey"],
         "a piece of clothing": ["shirt", "coat", "skirt", "jacket", "trousers", "sweater", "glove", "sock"],
         "a vehicle": ["car", "truck", "train", "bicycle", "tractor", "van", "scooter", "tram"],
         "a musical instrument": ["violin", "flute", "drum", "piano", "trumpet", "guitar", "cello", "harp"],
         "a piece of furniture": ["chair", "table", "sofa", "wardrobe", "shelf", "desk", "bench", "cupboard"],
         "a part of the body": ["elbow", "knee", "shoulder", "ankle", "wrist", "thumb", "chin", "hip"]}
SIZES = ["an ant", "a bee", "a mouse", "a hen", "a cat", "a sheep", "a pony", "a camel", "an elephant", "a whale"]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December"]


def near(r, value):
    """Three wrong numbers; the right one is as often the least as the greatest of the four or between."""
    below = [value - d for d in (1, 2, 3, 10) if value > d]
    above = [value + d for d in (1, 2, 3, 10)]
    less = r.below(min(3, len(below)) + 1)
    return [str(n) for n in r.shuffled(r.sample(below, less) + r.sample(above, 3 - less))]


def listed(words):
    return ", ".join(words[:-1]) + " or " + words[-1]


def fact(r, pairs, ask):
    key = r.pick(sorted(pairs))
    return ask.format(key), pairs[key], r.sample(sorted(set(pairs.values()) - {pairs[key]}), 3)


def arithmetic(r):
    kind, a, b = r.pick("+-*"), r.between(2, 30), r.between(2, 30)
    if kind == "-":
        a, b = max(a, b) + 5, min(a, b)
    if kind == "*":
        a, b = r.between(2, 12), r.between(2, 12)
    value = {"+": a + b, "-": a - b, "*": a * b}[kind]
    word = {"+": "plus", "-": "minus", "*": "times"}[kind]
    return f"What is {a} {word} {b}?", str(value), near(r, value)


def series(r):
    start, step = r.between(1, 20), r.between(2, 9)
    shown = [start + step * i for i in range(4)]
    value = start + step * 4
    return f"Which number comes next: {', '.join(map(str, shown))}?", str(value), near(r, value)


def extreme_number(r):
    numbers, word = r.sample(range(10, 100), 4), r.pick(["largest", "smallest"])
    right = max(numbers) if word == "largest" else min(numbers)
    return f"Which number is the {word}: {{}}?", str(right), [str(n) for n in numbers if n != right]


def extreme_animal(r):
    animals, word = sorted(r.sample(range(len(SIZES)), 4)), r.pick(["heaviest", "lightest"])
    right = animals[-1] if word == "heaviest" else animals[0]
    return f"Which animal is usually the {word}: {{}}?", SIZES[right], [SIZES[a] for a in animals if a != right]


def member(r):
    kind, *others = r.sample(sorted(KINDS), 4)
    return f"Which of these is {kind}: {{}}?", r.pick(KINDS[kind]), [r.pick(KINDS[o]) for o in others]


def odd_one(r):
    kind, other = r.sample(sorted(KINDS), 2)
    return "Which word does not belong with the others: {}?", r.pick(KINDS[other]), r.sample(KINDS[kind], 3)


def calendar(r):
    names, what = r.pick([(DAYS, "day"), (MONTHS, "month")])
    at, step = r.below(len(names)), r.pick([1, -1])
    right = names[(at + step) % len(names)]
    side = "right after" if step == 1 else "right before"
    return f"Which {what} comes {side} {names[at]}?", right, r.sample([n for n in names if n not in (right, names[at])], 3)


def capital(r):
    return fact(r, CAPITALS, "What is the capital of {}?")


def young(r):
    return fact(r, YOUNG, "What is the young of a {} called?")


def opposite(r):
    key = r.pick(sorted(OPPOSITES))
    return f"What is the opposite of {key}?", OPPOSITES[key], r.sample(sorted(set(OPPOSITES.values()) - {OPPOSITES[key]}), 3)


# Makers with few different questions come up once where the others come up twice.
CHOICE_MAKERS = [arithmetic, series, extreme_number, member, odd_one, extreme_animal, arithmetic, member, capital, odd_one,
                 calendar, arithmetic, extreme_number, series, opposite, member, young, odd_one]


# What they ask is so little that training could not teach it without asking it too: a suite's item is kept from
# training with its choices in their order. The others are kept from it whatever their choices.
FEW = {capital, young, opposite, calendar}


def key(query, choices, few):
    return "\n".join([query, *choices]) if few else query


def item_key(item):
    starts = ("What is the capital", "What is the young", "What is the opposite", "Which day comes", "Which month comes")
    return key(item["query"], item["choices"], item["query"].startswith(starts))


def arranged(query, right, wrong, gold):
    """The query, with the choices where it lists them, and the choices, the right one in place `gold`."""
    choices = wrong[:gold] + [right] + wrong[gold:]
    return (query.format(listed(choices)) if "{}" in query else query), choices


def make_choices(r, count):
    """`count` items, no query twice, the right choice equally often in each of the four places."""
    items, seen = [], set()
    places = r.shuffled([i % 4 for i in range(count)])
    turn = 0
    while len(items) < count:
        query, right, wrong = CHOICE_MAKERS[turn % len(CHOICE_MAKERS)](r)
        turn += 1
        gold = places[len(items)]
        query, choices = arranged(query, right, wrong, gold)
        if query in seen:
            continue
        seen.add(query)
        items.append({"query": query, "choices": choices, "gold": gold})
    return items


def document(r):
    """One to six queries, most often one, and their right choices, as the suite's completion prompt joins them."""
    turns, keys, before = [], [], ""
    for _ in range((1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 6)[r.below(20)]):
        maker = r.pick(CHOICE_MAKERS)
        query, right, wrong = maker(r)
        query, choices = arranged(query, right, wrong, r.below(4))
        turns.append([f"{before}Question: {query}\nAnswer:", " " + right])
        keys.append(key(query, choices, maker in FEW))
        before = "\n\n"
    return turns, keys


DOCUMENTS = {"choices": document}
