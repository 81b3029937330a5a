"""Small Python functions from a sentence, with tests, in HumanEval's and in MBPP's layout.

Each family makes the sentence ("the sum of the numbers from 1 up to the given number that are divisible by 3") and the
body that does it, from parts that combine freely; names do not occur in the sentence. So a function is known by its
sentence, and a suite's item is kept from training in both layouts and under any name.
"""
from .alterations import altered, runs
from .code_parts import FAMILIES

VERBS = ["get", "find", "make", "compute", "give", "build"]
HUMANEVAL_TESTS, MBPP_TESTS = 5, 3  # how many calls an item tests; MBPP's layout shows all of its tests in the prompt


class Function:
    """A function: its sentence, its source from the `def` on, and inputs, the ones that tell it from its neighbours
    first."""

    def __init__(self, r):
        phrase, noun, arguments, body, inputs = r.pick(FAMILIES)(r)
        self.phrase = phrase
        self.name = f"{r.pick(VERBS)}_{r.pick(noun)}"
        self.head = f"def {self.name}({', '.join(arguments)}):\n"
        self.body = "".join(f"    {line}\n" for line in body)
        self.inputs = inputs
        names = {}
        exec(self.head + self.body, names)  # our own source, a few lines above
        self.function = names[self.name]

    def calls(self, count, callee=None):
        """The source and the result of up to `count` different calls."""
        made = {}
        for arguments in self.inputs:
            call = f"{callee or self.name}({', '.join(map(repr, arguments))})"
            if call not in made and len(made) < count:
                made[call] = repr(self.function(*arguments))
        return list(made.items())


def humaneval_prompt(function):
    (call, result), = function.calls(1)
    return f'{function.head}    """Return {function.phrase}.\n    >>> {call}\n    {result}\n    """\n'


def humaneval_item(function, number):
    tests = "".join(f"    assert {call} == {result}\n" for call, result in function.calls(HUMANEVAL_TESTS, "candidate"))
    return {"task_id": f"MiniHumanEval/{number}", "prompt": humaneval_prompt(function), "entry_point": function.name,
            "canonical_solution": function.body, "test": f"\n\ndef check(candidate):\n{tests}"}


def mbpp_text(function):
    return f"Write a function to return {function.phrase}."


def asserts(calls):
    return [f"assert {call} == {result}" for call, result in calls]


def mbpp_item(function, number):
    return {"text": mbpp_text(function), "code": function.head + function.body, "task_id": number,
            "test_setup_code": "", "test_list": asserts(function.calls(MBPP_TESTS)), "challenge_test_list": []}


def humaneval_program(item, source):
    """The tests on the function `source`, as a program that fails where they do."""
    return f"{source}{item['test']}\n\ncheck({item['entry_point']})\n"


def mbpp_program(item, source):
    return "\n".join([source, item["test_setup_code"], *item["test_list"]])


PROGRAMS = {humaneval_item: humaneval_program, mbpp_item: mbpp_program}


def well_tested(function, item):
    """Whether the item's tests notice every small fault, which chance may hide (9 * 0 is 10 * 0)."""
    program = PROGRAMS[item]
    tests = item(function, 0)
    return not any(runs(program(tests, source + "\n")) for source in altered(function.head + function.body))


def make_items(r, count, item, kept_out):
    """`count` items, numbered from 1 on, whose sentences are not among `kept_out`; adds theirs to it."""
    items = []
    while len(items) < count:
        function = Function(r)
        if function.phrase not in kept_out and well_tested(function, item):
            kept_out.add(function.phrase)
            items.append(item(function, len(items) + 1))
    return items


def make_code(r, count):
    """`count` items in HumanEval's layout and as many in MBPP's, no sentence twice in both together."""
    sentences = set()
    return make_items(r, count, humaneval_item, sentences), make_items(r, count, mbpp_item, sentences)


def humaneval_key(item):
    return item["prompt"].split('"""Return ')[1].split(".\n")[0]


def mbpp_key(item):
    return item["text"].removeprefix("Write a function to return ").removesuffix(".")


def humaneval_document(r):
    function = Function(r)
    return [[humaneval_prompt(function), function.body]], [function.phrase]


def mbpp_document(r):
    """The sentence and three tests as a docstring, then the function."""
    function = Function(r)
    tests = "\n".join(asserts(function.calls(MBPP_TESTS)))
    return [[f'"""\n{mbpp_text(function)}\n{tests}\n"""\n', function.head + function.body]], [function.phrase]


DOCUMENTS = {"humaneval": humaneval_document, "mbpp": mbpp_document}
