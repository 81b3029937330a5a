"""What the functions of code.py are put together from.

A family returns the sentence's phrase, nouns for the function's name, the arguments' names, the body's lines and tuples
of arguments to call it with. The first inputs lie on both sides of every limit in the phrase, so that tests on them
fail for a function that is off by one.
"""
NUMBER = ["n", "x", "number", "value"]
NUMBERS = ["numbers", "values", "items", "nums"]
TEXT = ["text", "s", "line"]
PAIR = [("a", "b"), ("x", "y"), ("first", "second")]
LETTERS = "abcdefghilmnoprstuw"
WORDS = ["apple", "bread", "cat", "dog", "egg", "fish", "garden", "house", "island", "lemon", "moon", "night", "orange",
         "paper", "river", "stone", "tree", "under", "water", "bottle", "silver", "train", "summer", "winter", "table",
         "pencil", "animal", "needle", "ladder", "rabbit"]


def change(r, x, kinds=6):
    """Something done to the number written x: the words after "the number", and the code; the last of the six kinds
    forgets the number's sign."""
    kind, c = r.below(kinds), r.between(2, 12)
    if kind == 0:
        return f"plus {c}", f"{x} + {c}"
    if kind == 1:
        return f"minus {c}", f"{x} - {c}"
    if kind == 2:
        return f"times {c}", f"{x} * {c}"
    d = r.between(1, 12)
    if kind == 3:
        return f"times {c} plus {d}", f"{x} * {c} + {d}"
    if kind == 4:
        return f"times {c} minus {d}", f"{x} * {c} - {d}"
    return f"squared plus {d}", f"{x} * {x} + {d}"


def condition(r, x, kinds=5):
    """Something true of some numbers: the words after "is" or "are", the code, and numbers on both sides of it; the
    last of the five kinds has two limits."""
    kind, c = r.below(kinds), r.between(3, 15)
    if kind == 0:
        return f"greater than {c}", f"{x} > {c}", [c + 1, c, c - 1]
    if kind == 1:
        return f"less than {c}", f"{x} < {c}", [c - 1, c, c + 1]
    if kind == 2:
        return f"not equal to {c}", f"{x} != {c}", [c - 1, c, c + 1]
    if kind == 3:
        c = r.between(2, 9)
        return f"divisible by {c}", f"{x} % {c} == 0", [c, c - 1, 2 * c, c + 1, 7 * c]
    d = c + r.between(2, 9)
    return f"between {c} and {d}", f"{c} <= {x} <= {d}", [c, d, c - 1, d + 1]


def some(r, count, low=0, high=30):
    return [r.between(low, high) for _ in range(count)]


def lists(r, edges):
    """Lists of numbers that hold the edges, in several orders, and others."""
    first = r.shuffled(edges + some(r, 2))
    return [(first,), (r.shuffled(edges),), (some(r, 3) + edges[:2],), (edges[1:] + some(r, 1),), (some(r, 5),), ([],),
            (edges[:1],), (some(r, 6) + edges,)]


def calculation(r):
    n = r.pick(NUMBER)
    (first, code), (second, then) = change(r, n), change(r, n)
    body = [f"{n} = {code}", f"return {then}"]
    return (f"the given number {first}, all of that {second}", ["number", "result", "value"], [n], body,
            [(v,) for v in r.shuffled([r.between(3, 9), 1, 10, 0, r.between(11, 20), 2])])


def choice(r):
    n = r.pick(NUMBER)
    is_so, test, edges = condition(r, n, 4)
    (first, code), (second, otherwise) = change(r, n), change(r, n)
    return (f"the given number {first} if it is {is_so}, otherwise the number {second}", ["number", "result", "value"],
            [n], [f"if {test}:", f"    return {code}", f"return {otherwise}"],
            [(v,) for v in r.shuffled(edges[:3]) + edges[3:] + [0, r.between(21, 40), 1]])


def selection(r):
    numbers, (are_so, test, edges), (done, code) = r.pick(NUMBERS), condition(r, "x"), change(r, "x")
    return (f"a list of the given numbers that are {are_so}, each {done}", ["list", "numbers", "selection"], [numbers],
            [f"return [{code} for x in {numbers} if {test}]"], lists(r, edges))


def total(r):
    numbers, (are_so, test, edges), (done, code) = r.pick(NUMBERS), condition(r, "x"), change(r, "x")
    return (f"the sum of the given numbers that are {are_so}, each {done}", ["sum", "total", "result"], [numbers],
            ["total = 0", f"for x in {numbers}:", f"    if {test}:", f"        total += {code}", "return total"],
            lists(r, edges))


def count(r):
    numbers, (are_so, test, edges), (done, code) = r.pick(NUMBERS), condition(r, "x"), change(r, "count", 5)
    return (f"how many of the given numbers are {are_so}, that count {done}", ["count", "amount", "result"], [numbers],
            ["count = 0", f"for x in {numbers}:", f"    if {test}:", "        count += 1", f"return {code}"],
            lists(r, edges))


def up_to(r):
    n, (are_so, test, edges), (done, code) = r.pick(NUMBER), condition(r, "i"), change(r, "i")
    return (f"the sum of the numbers from 0 up to the given number that are {are_so}, each {done}",
            ["sum", "total", "result"], [n], [f"return sum({code} for i in range({n} + 1) if {test})"],
            [(v,) for v in [max(edges) + r.between(1, 5), min(edges)] + r.shuffled(edges) + [1, 0]])


def pair(r):
    a, b = r.pick(PAIR)
    what, code = r.pick([("the larger", f"max({a}, {b})"), ("the smaller", f"min({a}, {b})"), ("the sum", f"{a} + {b}"),
                         ("the product", f"{a} * {b}"), ("the distance", f"abs({a} - {b})")])
    (first, then), (second, last) = change(r, "result"), change(r, "result")
    inputs = [(r.between(2, 9), r.between(10, 20)), (r.between(10, 20), r.between(2, 9)), (0, r.between(1, 5)),
              (r.between(1, 5), 0), (7, 7), (r.between(21, 40), r.between(2, 40))]
    return (f"{what} of the two given numbers {first}, all of that {second}", ["result", "number", "value"], [a, b],
            [f"result = {code}", f"result = {then}", f"return {last}"], r.shuffled(inputs[:2]) + inputs[2:])


def text_change(r, s):
    """Something done to the text written s: the words and the code."""
    kind = r.below(7)
    if kind == 0:
        return r.pick([("in upper case", f"{s}.upper()"), ("in title case", f"{s}.title()"),
                       ("backwards", f"{s}[::-1]")])
    c = r.between(2, 6)
    if kind == 1:
        return f"without its first {c} characters", f"{s}[{c}:]"
    if kind == 2:
        return f"cut to {c} characters", f"{s}[:{c}]"
    if kind == 3:
        return f"repeated {c} times", f"{s} * {c}"
    if kind == 4:
        old = r.pick(LETTERS)
        return f"without the letter {old}", f'{s}.replace("{old}", "")'
    old, new = r.sample(LETTERS, 2)
    return f"with {old} replaced by {new}", f'{s}.replace("{old}", "{new}")'


def letters_of(code):
    """The letters that a change looks for, so that the inputs hold them."""
    return [part[0] for part in code.split('replace("')[1:]]


def text(r):
    s = r.pick(TEXT)
    (first, code), (second, then) = text_change(r, s), text_change(r, s)
    while letters_of(then) and ("upper" in code or "title" in code or letters_of(code) == letters_of(then)):
        second, then = text_change(r, s)  # one that finds its letter
    sought = "".join(letters_of(code) + letters_of(then))
    words = r.sample(WORDS, 4)
    inputs = [f"{words[0]}{sought}{words[1]}", words[2], f"{sought}{words[3]}", f"{words[1]} {words[0]} {sought}", "",
              "".join(r.sample(LETTERS, 12)) + sought]
    return (f"the given text {first} and then {second}", ["text", "string", "result"], [s],
            [f"{s} = {code}", f"return {then}"], [(v,) for v in inputs])


def words(r):
    s, kind, letter = r.pick(TEXT), r.below(4), r.pick(LETTERS)
    c = r.between(8, 10) if kind == 1 else r.between(3, 7)
    so, test = [(f"longer than {c} letters", f"len(w) > {c}"), (f"shorter than {c} letters", f"len(w) < {c}"),
                (f"that start with {letter}", f'w.startswith("{letter}")'),
                (f"that hold the letter {letter}", f'"{letter}" in w')][kind]
    done, code = text_change(r, "w")
    sought = "".join(letters_of(code))
    edges = [(sought + LETTERS[3:])[:size] for size in (c - 1, c + 1, c, 9)] if kind < 2 else [
        f"{letter}{sought}endings", f"{sought}r{letter}ing", f"{letter}lock", f"open{letter}"]
    rows = [r.shuffled(edges + r.sample(WORDS, 2)), r.sample(WORDS, 3) + edges[:2], edges,
            [word + sought + letter for word in r.sample(WORDS, 3)], [], r.sample(WORDS, 6)]
    return (f"a list of the words of the given text {so}, each {done}", ["words", "list", "selection"], [s],
            [f"return [{code} for w in {s}.split() if {test}]"], [(" ".join(row),) for row in rows])


FAMILIES = [calculation, choice, selection, total, count, up_to, pair, text, words]
