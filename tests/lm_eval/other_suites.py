"""Suites of a user's own whose choices are contexts, last words, and letters of questions in several files."""
from __future__ import annotations

import json
from pathlib import Path

SCHEMA = """name = "whom"
version = 1
title = "Whom"
ask = "choose"
reader = "schema_jsonl"
graders = ["acc"]
[data]
path = "whom.jsonl"
[shots]
default = 1
[completion]
question = "{choice}"
answer = " {continuation}"
separator = "\\n\\n"
[chat]
question = "{choice}"
answer = "{continuation}"
"""

LAST = """name = "last"
version = 1
title = "Last words"
ask = "choose"
reader = "continuation_jsonl"
graders = ["greedy"]
[data]
path = "last.jsonl"
[shots]
default = 0
[completion]
question = "{context}"
answer = " {choice}"
separator = "\\n\\n"
[chat]
question = "{context}"
answer = "{choice}"
"""

PARTS = """name = "subjects"
version = 1
title = "Subjects"
ask = "choose"
reader = "mmlu_csv"
graders = ["acc"]
[data]
path = "{part}_test.csv"
[shots]
default = 1
first = true
path = "{part}_dev.csv"
[completion]
question = "{question}\\nA. {a}\\nB. {b}\\nC. {c}\\nD. {d}\\nAnswer:"
answer = " {choice}"
separator = "\\n\\n"
[chat]
question = "{question}\\nA. {a}\\nB. {b}\\nC. {c}\\nD. {d}"
answer = "{choice}"
[report]
by = ["subject"]
[parts.sums]
category = "numbers"
subject = "sums"
[parts.colours]
category = "things"
subject = "colours"
"""


def write(folder: Path) -> dict[str, Path]:
    """Puts the suites and their data into the folder; their files by name."""
    folder.mkdir(parents=True)
    whom = [{"context_options": [f"Ann met {i} men and {who}" for who in ("Ann", "Bob")],
             "continuation": f"went home {i} times.", "gold": i % 2} for i in range(8)]
    words = ("four", "ten", "so") * 3
    last = [{"context": f"One, two, three, {i} and", "continuation": word} for i, word in enumerate(words)]
    for name, lines in (("whom", whom), ("last", last)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for part in ("sums", "colours"):
        for kind, count in (("test", 6), ("dev", 1)):
            rows = [f"\"{part} {kind} {i}?\",1,2,3,4,{i % 4}\n" for i in range(count)]
            head = "question,choice0,choice1,choice2,choice3,answer\n"
            (folder / f"{part}_{kind}.csv").write_text(head + "".join(rows))
    for name, text in (("whom", SCHEMA), ("last", LAST), ("subjects", PARTS)):
        (folder / f"{name}.toml").write_text(text)
    return {name: folder / f"{name}.toml" for name in ("whom", "last", "subjects")}
