"""GSM8K's test items answered by a Hugging Face model, in batches: a quick look where Fullband's program is not at
hand.

An answer counts where the number after the last `####`, but for `$`, `,`, spaces and a final full stop, equals the
item's. Fullband's grader `number` takes more spellings; the completions are kept, so that it can grade them.
"""
import math
import re
import time
import tomllib
from decimal import Decimal, InvalidOperation

import torch

import public_text

SHOTS = 5


def number_of(text):
    """The number after the last #### of a text; None where there is none."""
    found = re.findall(r"####\s*(-?[\d$,. ]*\d)", text)
    try:
        return Decimal(re.sub(r"[$, ]", "", found[-1])) if found else None
    except InvalidOperation:
        return None


def load(folder, count):
    """(prompts, golds): the first `count` test items, each after the same five problems, which no training has seen."""
    _, held_out = public_text.split_gsm8k(folder)
    items = public_text.read_lines(folder / "gsm8k" / "test.jsonl", ("question", "answer"))[:count]
    shots = public_text.gsm8k_pairs(held_out[:SHOTS])
    question, _, separator = public_text.gsm8k_wording()
    before = "".join(prompt + answer for prompt, answer in public_text.turns_of(shots, separator)) + separator
    return [before + public_text.fill(question, item) for item in items], [number_of(item["answer"]) for item in items]


def stops():
    return tomllib.loads((public_text.TASKS / "gsm8k.toml").read_text(encoding="utf-8"))["completion"]["stop"]


def cut(text, stop_strings):
    """(the text before the first stop string, whether there was one)"""
    ends = [at for at in (text.find(stop) for stop in stop_strings) if at >= 0]
    return (text[:min(ends)], True) if ends else (text, False)


@torch.no_grad()
def complete(model, tokenizer, end, prompts, setting, most_new, batch):
    """[(completion, tokens, ended)] of each prompt, greedy. Prompts of a batch are padded on the left."""
    device = next(model.parameters()).device
    ids = [tokenizer.encode(prompt).ids for prompt in prompts]
    order, out = sorted(range(len(ids)), key=lambda i: len(ids[i])), [None] * len(ids)
    for at in range(0, len(order), batch):
        chosen = order[at:at + batch]
        width = max(len(ids[i]) for i in chosen)
        tokens = torch.tensor([[end] * (width - len(ids[i])) + ids[i] for i in chosen], device=device)
        mask = torch.tensor([[0] * (width - len(ids[i])) + [1] * len(ids[i]) for i in chosen], device=device)
        made = model.generate(tokens, attention_mask=mask, setting=setting, do_sample=False, max_new_tokens=most_new,
                              eos_token_id=end, pad_token_id=end)[:, width:].tolist()
        for i, row in zip(chosen, made):
            kept = row[:row.index(end)] if end in row else row
            text, stopped = cut(tokenizer.decode(kept), stops())
            out[i] = (text, len(kept), stopped or len(kept) < len(row))
    return out


def evaluate(model, tokenizer, end, prompts, golds, setting, most_new=256, batch=200):
    """A dict of figures; `completions` and `correct` by item."""
    begin = time.monotonic()
    made = complete(model, tokenizer, end, prompts, setting, most_new, batch)
    correct = [number_of(text) == gold for (text, _, _), gold in zip(made, golds)]
    return {"items": len(made), "correct": sum(correct), "mean_tokens": sum(n for _, n, _ in made) / len(made),
            "not_ended": sum(not ended for _, _, ended in made), "seconds": round(time.monotonic() - begin, 2),
            "completions": [text for text, _, _ in made], "right": correct}


def pair(first, second):
    """Exact McNemar test of two lists of booleans on the same items."""
    only_first = sum(a and not b for a, b in zip(first, second))
    only_second = sum(b and not a for a, b in zip(first, second))
    n, k = only_first + only_second, min(only_first, only_second)
    p = min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n) if n else 1.0
    return {"only_first": only_first, "only_second": only_second, "p": p}
