"""The files that no origin has as they are used: each is made of one that it has, byte for byte the same everywhere.

A conversion takes the bytes of a file and returns those of the other; it raises ValueError where they are not laid out
as it expects.
"""
import bz2
import json

ENDINGS = 4


def hellaswag_jsonl(packed):
    """HellaSwag's text (bzip2; an item is six lines: context, gold 0-3, four endings) as multiple-choice JSON lines."""
    try:
        lines = bz2.decompress(packed).decode("utf-8").split("\n")
    except OSError as error:
        raise ValueError(f"is not bzip2: {error}") from error
    if lines[-1] == "":
        lines.pop()
    item_lines = 2 + ENDINGS
    if not lines or len(lines) % item_lines:
        raise ValueError(f"has {len(lines)} lines, which is no multiple of {item_lines}")
    made = []
    for at in range(0, len(lines), item_lines):
        query, gold, *choices = lines[at : at + item_lines]
        if gold not in [str(choice) for choice in range(ENDINGS)]:
            raise ValueError(f"line {at + 2} is no number from 0 to {ENDINGS - 1}")
        made.append(json.dumps({"query": query, "choices": choices, "gold": int(gold)}, ensure_ascii=False))
    return ("\n".join(made) + "\n").encode("utf-8")


def json_rewritten(text):
    """JSON in any layout as Python's json.dumps writes it."""
    return json.dumps(json.loads(text.decode("utf-8"))).encode("ascii")


CONVERSIONS = {function.__name__: function for function in (hellaswag_jsonl, json_rewritten)}
