"""Word problems of one to three worked steps, in GSM8K's layout. Each maker returns the question, the worked steps and
the answer."""

PEOPLE = [("Anna", "she"), ("Ben", "he"), ("Carla", "she"), ("David", "he"), ("Emma", "she"), ("Farid", "he"),
          ("Grace", "she"), ("Hugo", "he"), ("Irina", "she"), ("Jonas", "he"), ("Kavya", "she"), ("Liam", "he"),
          ("Mei", "she"), ("Nils", "he"), ("Olivia", "she"), ("Pablo", "he"), ("Rosa", "she"), ("Samir", "he")]
THINGS = ["apples", "pencils", "marbles", "stickers", "shells", "buttons", "coins", "stamps", "cards", "beads",
          "plums", "crayons"]
GOODS = ["notebooks", "sandwiches", "tickets", "mugs", "kites", "scarves", "brushes", "candles", "pies", "lamps"]
BOXES = ["boxes", "bags", "baskets", "jars", "trays", "packs"]
ROOMS = ["classroom", "library", "hall", "theatre", "cinema"]


def gain(r):
    (name, pronoun), thing = r.pick(PEOPLE), r.pick(THINGS)
    a, b = r.between(4, 40), r.between(3, 30)
    verb = r.pick(["finds", "buys", "is given", "collects"])
    return (f"{name} has {a} {thing}. Then {pronoun} {verb} {b} more. How many {thing} does {name} have now?",
            [f"{name} has {a} + {b} = {a + b} {thing}."], a + b)


def lose(r):
    (name, pronoun), thing = r.pick(PEOPLE), r.pick(THINGS)
    a = r.between(12, 60)
    b = r.between(3, a - 4)
    verb = r.pick(["gives away", "loses", "sells"])
    return (f"{name} had {a} {thing}, but {pronoun} {verb} {b} of them. How many {thing} are left?",
            [f"There are {a} - {b} = {a - b} {thing} left."], a - b)


def groups(r):
    thing, box = r.pick(THINGS), r.pick(BOXES)
    a, b = r.between(3, 12), r.between(3, 12)
    return (f"There are {a} {box} with {b} {thing} in each of them. How many {thing} are there altogether?",
            [f"There are {a} * {b} = {a * b} {thing}."], a * b)


def share(r):
    (name, pronoun), thing = r.pick(PEOPLE), r.pick(THINGS)
    a, b = r.between(3, 9), r.between(3, 12)
    return (f"{name} shares {a * b} {thing} equally among {a} friends. How many {thing} does each friend get?",
            [f"Each friend gets {a * b} / {a} = {b} {thing}."], b)


def buy_change(r):
    (name, pronoun), goods = r.pick(PEOPLE), r.pick(GOODS)
    n, price = r.between(2, 9), r.between(2, 9)
    paid = next(p for p in (20, 50, 100) if p > n * price)
    return (f"{name} buys {n} {goods} at ${price} each and pays with a ${paid} note. "
            f"How many dollars of change does {name} get?",
            [f"The {goods} cost {n} * {price} = ${n * price}.",
             f"The change is {paid} - {n * price} = ${paid - n * price}."], paid - n * price)


def two_goods(r):
    (name, _), (first, second) = r.pick(PEOPLE), r.sample(GOODS, 2)
    a, p, b, q = r.between(2, 8), r.between(2, 9), r.between(2, 8), r.between(2, 9)
    return (f"{name} buys {a} {first} for ${p} each and {b} {second} for ${q} each. "
            f"How many dollars does {name} spend in all?",
            [f"The {first} cost {a} * {p} = ${a * p}.", f"The {second} cost {b} * {q} = ${b * q}.",
             f"Together that is {a * p} + {b * q} = ${a * p + b * q}."], a * p + b * q)


def seats(r):
    room = r.pick(ROOMS)
    rows, each = r.between(4, 12), r.between(5, 12)
    free = r.between(3, rows * each // 2)
    return (f"A {room} has {rows} rows of {each} seats. {free} seats are empty. How many seats are taken?",
            [f"The {room} has {rows} * {each} = {rows * each} seats.",
             f"{rows * each} - {free} = {rows * each - free} of them are taken."], rows * each - free)


def more_than(r):
    ((a_name, _), (b_name, _)), thing = r.sample(PEOPLE, 2), r.pick(THINGS)
    a, more = r.between(5, 30), r.between(2, 20)
    return (f"{a_name} has {a} {thing}. {b_name} has {more} more than {a_name}. "
            f"How many {thing} do they have together?",
            [f"{b_name} has {a} + {more} = {a + more} {thing}.",
             f"Together they have {a} + {a + more} = {2 * a + more} {thing}."], 2 * a + more)


def twice(r):
    ((a_name, _), (b_name, _)), thing = r.sample(PEOPLE, 2), r.pick(THINGS)
    a, times = r.between(4, 20), r.between(2, 4)
    word = {2: "twice", 3: "three times", 4: "four times"}[times]
    return (f"{b_name} has {word} as many {thing} as {a_name}, who has {a}. How many more {thing} does {b_name} have?",
            [f"{b_name} has {times} * {a} = {times * a} {thing}.",
             f"That is {times * a} - {a} = {times * a - a} more."], times * a - a)


def half_sold(r):
    (name, pronoun), goods = r.pick(PEOPLE), r.pick(GOODS)
    half, extra = r.between(8, 30), r.between(2, 7)
    return (f"{name} made {2 * half} {goods}. In the morning {pronoun} sold half of them, in the afternoon {extra} more. "
            f"How many {goods} are left?",
            [f"In the morning {2 * half} / 2 = {half} were sold, so {2 * half} - {half} = {half} were left.",
             f"After the afternoon {half} - {extra} = {half - extra} {goods} are left."], half - extra)


def weekly(r):
    (name, _), verb = r.pick(PEOPLE), r.pick([("reads", "pages"), ("runs", "laps"), ("solves", "puzzles")])
    each, days, weekend = r.between(3, 20), r.between(3, 5), r.between(5, 40)
    return (f"{name} {verb[0]} {each} {verb[1]} a day on {days} days of the week and {weekend} {verb[1]} at the weekend. "
            f"How many {verb[1]} is that in the whole week?",
            [f"On the {days} days it is {days} * {each} = {days * each} {verb[1]}.",
             f"With the weekend it is {days * each} + {weekend} = {days * each + weekend} {verb[1]}."],
            days * each + weekend)


def saving(r):
    (name, pronoun), goods = r.pick(PEOPLE), r.pick(["bicycle", "guitar", "tent", "camera", "skateboard"])
    week, weeks, have = r.between(4, 15), r.between(3, 9), r.between(5, 40)
    price = have + week * weeks
    return (f"A {goods} costs ${price}. {name} has ${have} and saves ${week} every week. "
            f"After how many weeks can {pronoun} buy the {goods}?",
            [f"{name} still needs {price} - {have} = ${price - have}.",
             f"That takes {price - have} / {week} = {weeks} weeks."], weeks)


def packing(r):
    thing, box = r.pick(THINGS), r.pick(BOXES)
    each, full, eaten = r.between(3, 10), r.between(3, 10), r.between(3, 12)
    total = each * full + eaten
    return (f"Of {total} {thing}, {eaten} are broken. The rest are packed into {box} of {each}. How many {box} are filled?",
            [f"There are {total} - {eaten} = {total - eaten} good {thing}.",
             f"They fill {total - eaten} / {each} = {full} {box}."], full)


def earnings(r):
    (name, pronoun), job = r.pick(PEOPLE), r.pick(["walking dogs", "washing cars", "mowing lawns", "baking bread"])
    wage, first, second, spent = r.between(5, 15), r.between(2, 6), r.between(2, 6), r.between(5, 20)
    hours = first + second
    return (f"{name} earns ${wage} an hour {job}. {pronoun.capitalize()} works {first} hours on Saturday and {second} hours on "
            f"Sunday, then spends ${spent}. How many dollars does {name} have left?",
            [f"{name} works {first} + {second} = {hours} hours.", f"That pays {hours} * {wage} = ${hours * wage}.",
             f"After spending, {hours * wage} - {spent} = ${hours * wage - spent} are left."], hours * wage - spent)


def farm(r):
    place = r.pick(["farm", "yard", "meadow", "barn"])
    hens, (animal, legs) = r.between(3, 15), r.pick([("goats", 4), ("sheep", 4), ("cows", 4), ("pigs", 4)])
    others = r.between(2, 12)
    return (f"On a {place} there are {hens} hens and {others} {animal}. How many legs do the animals have altogether?",
            [f"The hens have {hens} * 2 = {hens * 2} legs.", f"The {animal} have {others} * {legs} = {others * legs} legs.",
             f"Together that is {hens * 2} + {others * legs} = {hens * 2 + others * legs} legs."], hens * 2 + others * legs)


def journey(r):
    vehicle, speed = r.pick([("train", 10), ("bus", 5), ("boat", 5), ("lorry", 10)])
    speed *= r.between(4, 9)
    hours, rest = r.between(2, 5), r.between(10, 60)
    total = speed * hours + rest
    return (f"A {vehicle} travels {speed} km every hour. After {hours} hours it is still {rest} km from its goal. "
            f"How many km long is the whole way?",
            [f"In {hours} hours the {vehicle} travels {hours} * {speed} = {speed * hours} km.",
             f"The whole way is {speed * hours} + {rest} = {total} km."], total)


def fence(r):
    place = r.pick(["garden", "field", "playground", "car park"])
    long, wide, price = r.between(8, 20), r.between(3, 8), r.between(2, 5)
    around = 2 * (long + wide)
    return (f"A {place} is {long} metres long and {wide} metres wide. A fence costs ${price} a metre. "
            f"How many dollars does a fence around the {place} cost?",
            [f"One long and one short side are {long} + {wide} = {long + wide} metres.",
             f"All around it is 2 * {long + wide} = {around} metres.",
             f"The fence costs {around} * {price} = ${around * price}."], around * price)


def bus_stops(r):
    first, off, on, off_again = r.between(15, 40), r.between(3, 10), r.between(2, 12), r.between(2, 9)
    vehicle = r.pick(["bus", "tram", "ferry"])
    a, b = first - off, first - off + on
    return (f"A {vehicle} starts with {first} passengers. At the first stop {off} get off and {on} get on. "
            f"At the second stop {off_again} get off. How many passengers are on the {vehicle} now?",
            [f"After {off} got off there are {first} - {off} = {a} passengers.",
             f"After {on} got on there are {a} + {on} = {b}.", f"After the second stop there are {b} - {off_again} = {b - off_again}."],
            b - off_again)


PROBLEMS = [gain, lose, groups, share, buy_change, two_goods, seats, more_than, twice, half_sold, weekly, saving, packing,
            earnings, farm, journey, fence, bus_stops]


def laid_out(steps, answer):
    return "\n".join(steps) + f"\n#### {answer}"


def make_problems(r, count):
    """`count` problems, the makers in turn, no question twice."""
    problems, seen = [], set()
    while len(problems) < count:
        question, steps, answer = PROBLEMS[len(problems) % len(PROBLEMS)](r)
        if question not in seen:
            seen.add(question)
            problems.append({"question": question, "answer": laid_out(steps, answer)})
    return r.shuffled(problems)


def document(r):
    """One to three problems and their worked answers, as the suite's completion prompt joins them."""
    turns, keys, before = [], [], ""
    for _ in range((1, 1, 1, 1, 2, 2, 2, 3, 3, 3)[r.below(10)]):
        question, steps, answer = r.pick(PROBLEMS)(r)
        turns.append([f"{before}Question: {question}\nAnswer:", " " + laid_out(steps, answer)])
        keys.append(question)
        before = "\n\n"
    return turns, keys


DOCUMENTS = {"problems": document}


def item_key(item):
    return item["question"]
