"""Small faults in a Python function, one at a time, to see whether tests notice them."""
import ast
import copy

COMPARISONS = {ast.Gt: [ast.GtE, ast.Lt], ast.Lt: [ast.LtE, ast.Gt], ast.LtE: [ast.Lt], ast.NotEq: [ast.Eq],
               ast.Eq: [ast.NotEq], ast.In: [ast.NotIn]}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add}
CALLS = {"max": "min", "min": "max", "upper": "lower", "title": "lower", "startswith": "endswith"}


def faults_of(node):
    """Ways to make one node a little wrong: (attribute, wrong value)."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield from (("value", node.value + 1), ("value", node.value - 1))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
        yield "value", "#"
    elif isinstance(node, ast.Compare):
        for i, comparison in enumerate(node.ops):
            for other in COMPARISONS[type(comparison)]:
                yield "ops", node.ops[:i] + [other()] + node.ops[i + 1:]
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in OPERATORS:
        yield "op", OPERATORS[type(node.op)]()
    elif isinstance(node, ast.Name) and node.id in CALLS:
        yield "id", CALLS[node.id]
    elif isinstance(node, ast.Attribute) and node.attr in CALLS:
        yield "attr", CALLS[node.attr]


def altered(source):
    """The function without its docstring and with one fault, for every node and way; last, one that returns nothing."""
    tree = ast.parse(source)
    function = tree.body[0]
    if ast.get_docstring(function):
        function.body.pop(0)
    for at, node in enumerate(ast.walk(tree)):
        for attribute, value in faults_of(node):
            other = copy.deepcopy(tree)
            setattr(list(ast.walk(other))[at], attribute, value)
            yield ast.unparse(ast.fix_missing_locations(other))
    function.body = [ast.Pass()]
    yield ast.unparse(tree)


def runs(program):
    """Whether the program comes to its end without an exception."""
    try:
        exec(compile(program, "program", "exec"), {})
    except Exception:
        return False
    return True
