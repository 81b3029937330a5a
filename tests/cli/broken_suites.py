"""Broken suites, data files and lines of standard input, for bad_input_test.py."""
from __future__ import annotations

import tiny
from rows import Place, Row


def ask(place: Place, suite: str, *more: str) -> list[str]:
    return ["run", "--model", str(place.good), "--suite", suite, "--setting", "standard", "--limit", "2", "--threads", "1",
            "--quiet", "--store", str(place.store), *more]


def own(toml=tiny.GENERATE_TOML, items=tiny.GENERATE_ITEMS, command=ask):
    def make(place: Place) -> list[str]:
        return command(place, str(tiny.suite(place.folder / "suite", toml, items)))
    return make


def items(content: bytes):
    return own(items=content)


def choices(content: bytes):
    return own(tiny.CHOOSE_TOML, content)


def toml(old: str, new: str, text=tiny.GENERATE_TOML):
    return own(tiny.replaced(text, old, new))


def show(place: Place, suite: str) -> list[str]:
    return ["suites", suite, "--show"]


def no_data(place: Place) -> list[str]:
    path = tiny.suite(place.folder / "suite")
    (path.parent / "own.jsonl").unlink()
    return ask(place, str(path))


def data_folder(place: Place) -> list[str]:
    path = tiny.suite(place.folder / "suite")
    (path.parent / "own.jsonl").unlink()
    (path.parent / "own.jsonl").mkdir()
    return ask(place, str(path))


def other_bundled_data(place: Place) -> list[str]:
    data = place.folder / "data" / "gsm8k"
    data.mkdir(parents=True)
    (data / "test.jsonl").write_bytes(tiny.GENERATE_ITEMS)
    return ask(place, "gsm8k", "--data-dir", str(data.parent))


def public_suite_without_data(place: Place) -> list[str]:
    (place.folder / "data").mkdir()
    return ask(place, "arc_easy", "--data-dir", str(place.folder / "data"))


GOOD = tiny.GENERATE_ITEMS
DATA_ROWS = [
    Row("malformed line", items(GOOD + b'{"question": "3?", "ans\n'), 1, ["own.jsonl, line 3", "JSON"]),
    Row("line that is a list", items(b"[1]\n"), 1, ["own.jsonl, line 1", "object"]),
    Row("empty line", items(GOOD + b"\n" + GOOD), 1, ["own.jsonl, line 3", "empty"]),
    Row("number too large", items(GOOD + b'{"id": 1e999, "question": "3?", "answer": "#### 1"}\n'), 1,
        ["own.jsonl, line 3", "JSON"]),
    Row("line nested deep", items(b'{"id": ' + b"[" * 200000 + b"]" * 200000 + b', "question": "3?", "answer": "#### 1"}\n'),
        1, ["own.jsonl, line 1", "nested"]),
    Row("missing field", items(GOOD + b'{"question": "3?"}\n'), 1, ["own.jsonl, line 3, answer", "missing"]),
    Row("ill-typed field", items(b'{"question": 3, "answer": "#### 1"}\n'), 1, ["own.jsonl, line 1, question", "string"]),
    Row("no final answer", items(b'{"question": "3?", "answer": "three"}\n'), 1, ["own.jsonl, line 1, answer", "####"]),
    Row("invalid UTF-8", items(GOOD + b'{"question": "\xc3(", "answer": "#### 1"}\n'), 1, ["own.jsonl, line 3", "UTF-8"]),
    Row("half of a surrogate pair", items(b'{"question": "\\ud800?", "answer": "#### 1"}\n'), 1, ["own.jsonl, line 1"]),
    Row("two items of one id", items(b'{"id": "a", "question": "1?", "answer": "#### 1"}\n' * 2), 1,
        ["own.jsonl, line 2, id", "line 1"]),
    Row("byte order mark", items(b"\xef\xbb\xbf" + GOOD), 1, ["own.jsonl", "byte order mark"]),
    Row("empty data set", items(b""), 1, ["own.jsonl", "no items"]),
    Row("data file missing", no_data, 1, ["own.jsonl", "not found", "--data-dir"]),
    Row("data file a folder", data_folder, 1, ["own.jsonl", "not a file"]),
    Row("public data missing", public_suite_without_data, 1,
        ["arc_easy.jsonl", "not found", "mosaicml/llm-foundry", "fullband data fetch arc_easy"]),
    Row("public data of another hash", other_bundled_data, 1,
        ["gsm8k/test.jsonl", "SHA-256", "grade-school-math", "fullband data fetch gsm8k"]),
    Row("one choice", choices(b'{"query": "a?", "choices": ["b"], "gold": 0}\n'), 1, ["own.jsonl, line 1, choices"]),
    Row("gold out of range", choices(tiny.CHOOSE_ITEMS + b'{"query": "a?", "choices": ["b", "c"], "gold": 2}\n'), 1,
        ["own.jsonl, line 3, gold", "2"]),
    Row("gold a fraction", choices(b'{"query": "a?", "choices": ["b", "c"], "gold": 0.5}\n'), 1,
        ["own.jsonl, line 1, gold", "0.5"]),
    Row("choice not a string", choices(b'{"query": "a?", "choices": ["b", 4], "gold": 0}\n'), 1,
        ["own.jsonl, line 1, choices[1]"]),
    Row("more shots than items", own(command=lambda place, suite: ask(place, suite, "--shots", "9")), 2, ["own", "9"]),
]

SUITE_ROWS = [
    Row("suite not TOML", toml("version = 1", "version = "), 1, ["own.toml, line 2"]),
    Row("suite not UTF-8", lambda place: (lambda path: (path.write_bytes(b'name = "\xff"\n'), ask(place, str(path)))[1])(
        tiny.suite(place.folder / "suite")), 1, ["own.toml, line 1"]),
    Row("suite with an unknown key", toml("version", 'grader = "number"\nversion'), 1,
        ["own.toml, line 2, grader", "graders"]),
    Row("suite with an unknown key in a table", toml("separator", 'seperate = "a"\nseparator'), 1,
        ["own.toml", "completion.seperate"]),
    Row("suite without a key", toml('ask = "generate"\n', ""), 1, ["own.toml", "ask", "missing"]),
    Row("suite without a table", toml("[shots]\ndefault = 0\n", ""), 1, ["own.toml", "shots", "missing"]),
    Row("suite with an ill-typed key", toml("version = 1", 'version = "1"'), 1, ["own.toml, line 2, version", "string"]),
    Row("suite with an unknown reader", toml("gsm8k_jsonl", "gsm8k_json"), 1, ["own.toml", "reader", "gsm8k_jsonl"]),
    Row("suite with an unknown grader", toml('["number"]', '["numbr"]'), 1, ["own.toml, graders", "numbr", "number"]),
    Row("suite with a malformed answer pattern",
        toml("[generate]", "[answer]\npattern = '(a'\n[generate]", tiny.GENERATE_TOML.replace('"number"', '"exact"')), 1,
        ["own.toml, answer.pattern", "regular expression"]),
    Row("suite with an answer rule that no grader heeds", toml("[generate]", "[answer]\nignore_case = true\n[generate]"), 1,
        ["own.toml, answer", "exact"]),
    Row("suite reported by a field that is not there", toml("[generate]", '[report]\nby = ["level"]\n[generate]'), 1,
        ["own.toml", "report.by", "level"]),
    Row("suite with an unknown hole", toml("{question}", "{qestion}"), 1, ["completion.question", "{qestion}", "question"]),
    Row("suite with an open hole", toml("{question}", "{question"), 1, ["own.toml", "completion.question"]),
    Row("suite leading out of its folder", toml('"own.jsonl"', '"../own.jsonl"'), 1, ["own.toml", "data.path"]),
    Row("suite of another hash", toml('[shots]', 'sha256 = "' + "0" * 64 + '"\n[shots]'), 1, ["own.jsonl", "SHA-256", "own"]),
    Row("suite with a huge number", toml("max_new_tokens = 4", "max_new_tokens = 99999999999999999999"), 1, ["own.toml, line"]),
    Row("suite nested deep", toml("version = 1", "version = " + "[" * 50000 + "]" * 50000), 1, ["own.toml, line 2"]),
    Row("suite that is not there", lambda place: ask(place, str(place.folder / "none.toml")), 2, ["none.toml"]),
    Row("suite shown, broken", own(tiny.replaced(tiny.GENERATE_TOML, "[chat]", "[chta]"), command=show), 1,
        ["own.toml", "chat", "missing"]),
    Row("suite shown, malformed line", own(items=b"{", command=show), 1, ["own.jsonl, line 1", "JSON"]),
]


def lines(stdin: bytes, *more: str):
    def make(place: Place) -> list[str]:
        place.stdin = stdin
        return ["tokenize", "--model", str(place.good), *more]
    return make


STDIN_ROWS = [
    Row("standard input: malformed line", lines(b'"a"\n"b\n'), 1, ["standard input", "line 2", "JSON"]),
    Row("standard input: empty line", lines(b'"a"\n\n"b"\n'), 1, ["standard input", "line 2", "JSON"]),
    Row("standard input: not a string", lines(b'"a"\n"b"\n{"a": 1}\n'), 1, ["standard input", "line 3", "string"]),
    Row("standard input: invalid UTF-8", lines(b'"\xff"\n'), 1, ["standard input", "line 1"]),
    Row("standard input: number too large", lines(b"1e999\n"), 1, ["standard input", "line 1", "JSON"]),
    Row("standard input: half of a surrogate pair", lines(b'"\\udc00"\n'), 1, ["standard input", "line 1"]),
    Row("standard input: not a list", lines(b'"a"\n', "--decode"), 1, ["standard input", "line 1", "list"]),
    Row("standard input: id out of range", lines(b"[1]\n[1, 999999]\n", "--decode"), 1, ["line 2", "999999"]),
    Row("standard input: negative id", lines(b"[-1]\n", "--decode"), 1, ["line 1", "-1"]),
    Row("standard input: id nested deep", lines(b"[" * 200000 + b"]" * 200000 + b"\n", "--decode"), 1, ["line 1", "nested"]),
]

ROWS = DATA_ROWS + SUITE_ROWS + STDIN_ROWS
