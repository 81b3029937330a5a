"""Compares the program's `contraction` with the specification in fbt_reference.py.

Run: python3 compare_contraction.py PROGRAM   (needs numpy only)

Random checkpoints run windows of a text and the items of a suite of choices. Some of its right choices are what one of
the passes would say itself, so that the share of greedy answers differs from pass to pass.

Tolerance. As compare_engine.py has it: the engine computes the exact function of slightly different weights, so the
float64 reference is run DRAWS times with perturbed weights. They move the states of pass p by d(p), measured in the
Frobenius norm over all positions. By the triangle inequality that moves |h(p) - h(p-1)| by at most d(p) + d(p-1), the
ratio's base |h(p-1)| by at most d(p-1), and the distance to the recurrence likewise. The tolerance is FACTOR times
these bounds. A loss is a mean of log-probabilities: its tolerance is FACTOR times the mean of their absolute changes,
and at least FLOOR. A case whose tolerance exceeds CEILING is too sensitive to show anything, and fails. The share of
greedy answers must be equal; the items are chosen so that none of their tokens is a near tie.
"""
from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

try:
    import numpy as np
except ModuleNotFoundError:
    print("numpy is missing: run scripts/setup")
    sys.exit(77)  # skipped

import checkpoints
import fbt_reference as fbt
from compare_engine import CEILING, DRAWS, FACTOR, FLOOR, perturbed

TOKENIZER = Path(__file__).resolve().parent.parent / "data" / "tokenizers" / "qwen_kind"
PASSES, WINDOW = 5, 12
VOCAB = 3100  # of that tokenizer, and some
TEXT = "Each pass feeds the state back, shifted by one. Caf\u00e9 au lait: 12 + 30 = 42!\nSo it goes on and on, as passes do.\n"
ITEMS = 6
SUITE = """name = "own"
version = 1
title = "Own choices"
ask = "choose"
reader = "multiple_choice_jsonl"
graders = ["acc"]

[data]
path = "own.jsonl"

[shots]
default = 0

[completion]
question = "{query}"
answer = "{choice}"
separator = " "

[chat]
question = "{query}"
answer = "{choice}"
"""
FILES = {shape.name: shape for shape in checkpoints.SHAPES}


def variant(shape: str, name: str, gain: float = 1.0) -> checkpoints.Shape:
    """A shape with the tokenizer's vocabulary and a feedback of another strength."""
    return replace(FILES[shape], name=name, vocab=VOCAB, feedback_gain=gain)


CHECKPOINTS = (
    variant("tied_glu", "glu"),
    variant("llama3_rope_mixed", "glu of mixed dtypes"),
    variant("untied_additive_bf16", "additive"),
    variant("untied_additive_bf16", "additive, contracting", 1 / 16),
    variant("qwen3_bias_additive", "additive with norms and biases", 1 / 4),
)


FAULTY = ("glu", "additive, contracting")  # those that faults are planted in


@dataclass
class Case:
    """Texts as tokens and what the program said of them."""

    name: str
    folder: Path
    texts: list[list[int]]
    answer_from: list[int] | None  # per text, suites only
    bytes: list[list[int]]  # of each token of each text
    control: str | None
    said: dict


@dataclass
class Pass:
    """One pass over all texts, in float64: states [T, D] and log-probabilities [T, V], per text."""

    h: list[np.ndarray]
    logprobs: list[np.ndarray]


# ---------------------------------------------------------------- what the reference says

def run_pass(model: fbt.Model, texts: list[list[int]], passes: int | str, control: str | None) -> Pass:
    h = [(fbt.recur(model, t, control=control) if passes == "exact" else fbt.prefill(model, t, passes, control=control))[0]
         for t in texts]
    return Pass(h, [fbt.log_softmax(x @ model.head().T) for x in h])


def run_all(model: fbt.Model, case: Case) -> list[Pass]:
    """Passes 1 .. PASSES, then the recurrence."""
    return [run_pass(model, case.texts, p, case.control) for p in (*range(1, PASSES + 1), "exact")]


def norm(parts: list[np.ndarray]) -> float:
    """Frobenius norm over all positions of all texts."""
    return float(np.sqrt(sum(float((part * part).sum()) for part in parts)))


def apart(a: Pass, b: Pass) -> float:
    return norm([x - y for x, y in zip(a.h, b.h)])


def open_norm(states: Pass, begin: int) -> float:
    return norm([x[begin:] for x in states.h])


def residual(now: Pass, before: Pass) -> float:
    return apart(now, before) / norm(before.h)


def scored(case: Case, text: int) -> range:
    return range(1, len(case.texts[text]))


def answered(case: Case, text: int) -> range:
    return range(case.answer_from[text], len(case.texts[text]))


def byte_count(case: Case, text: int, token: int) -> int:
    return case.bytes[text][token]


def predicted(case: Case, text: int, token: int) -> int:
    return case.texts[text][token]


def token_logprobs(case: Case, states: Pass, where) -> np.ndarray:
    return np.array([states.logprobs[i][t - 1, predicted(case, i, t)] for i in range(len(case.texts)) for t in where(case, i)])


def loss(case: Case, states: Pass, where) -> dict:
    values = token_logprobs(case, states, where)
    count = sum(byte_count(case, i, t) for i in range(len(case.texts)) for t in where(case, i))
    return {"nats_per_token": -values.mean(), "bits_per_byte": -values.sum() / np.log(2) / count}


def greedy_share(case: Case, states: Pass) -> float:
    return float(np.mean([all(states.logprobs[i][t - 1].argmax() == predicted(case, i, t) for t in answered(case, i))
                          for i in range(len(case.texts))]))


def figures(case: Case, runs: list[Pass]) -> dict[str, float]:
    """All figures by name, e.g. "pass 3 residual"."""
    out, exact = {}, runs[-1]
    for p, now in enumerate(runs, 1):
        name = f"pass {p} " if now is not exact else "recurrence "
        losses = loss(case, now, scored)
        if case.answer_from:
            answer = loss(case, now, answered) | {"greedy_share": greedy_share(case, now)}
            losses |= {"answer." + key: value for key, value in answer.items()}
        out |= {name + key: value for key, value in losses.items()}
        if now is exact:
            break
        out[name + "distance"] = apart(now, exact) / norm(exact.h)
        out[name + "open_distance"] = apart(now, exact) / open_norm(exact, p)
        if p > 1:
            out[name + "residual"] = residual(now, runs[p - 2])
            out[name + "open_residual"] = apart(now, runs[p - 2]) / open_norm(runs[p - 2], p - 1)
    return out


def tolerances(case: Case, runs: list[Pass], moved: list[list[Pass]]) -> dict[str, float]:
    """By the figures' names; `moved` are the runs of perturbed models."""
    shift = [FACTOR * max(apart(draw[i], now) for draw in moved) for i, now in enumerate(runs)]

    def ratio(a: int, b: int, base: float) -> float:
        return (shift[a] + shift[b] + shift[b] * apart(runs[a], runs[b]) / base) / base

    def mean_change(i: int, where) -> float:
        now = token_logprobs(case, runs[i], where)
        return max(FLOOR, FACTOR * max(np.abs(token_logprobs(case, draw[i], where) - now).mean() for draw in moved))

    out, last = {}, len(runs) - 1
    for i in range(len(runs)):
        name = f"pass {i + 1} " if i < last else "recurrence "
        for where, prefix in ((scored, ""), (answered, "answer.")):
            if prefix and not case.answer_from:
                continue
            per_byte = loss(case, runs[i], where)
            out[name + prefix + "nats_per_token"] = mean_change(i, where)
            out[name + prefix + "bits_per_byte"] = (
                mean_change(i, where) * per_byte["bits_per_byte"] / per_byte["nats_per_token"])
        if case.answer_from:
            out[name + "answer.greedy_share"] = 0.0
        if i == last:
            continue
        out[name + "distance"] = ratio(i, last, norm(runs[last].h))
        out[name + "open_distance"] = ratio(i, last, open_norm(runs[last], i + 1))
        if i > 0:
            out[name + "residual"] = ratio(i, i - 1, norm(runs[i - 1].h))
            out[name + "open_residual"] = ratio(i, i - 1, open_norm(runs[i - 1], i))
    return out


# ---------------------------------------------------------------- what the program says

def said_figures(said: dict) -> dict[str, float]:
    out = {}
    for entry in said["passes"] + [said["recurrence"]]:
        name = f"pass {entry['pass']} " if "pass" in entry else "recurrence "
        flat = {k: v for k, v in entry.items() if k not in ("pass", "answer")}
        flat |= {"answer." + key: value for key, value in entry.get("answer", {}).items()}
        out |= {name + key: value for key, value in flat.items() if value is not None}
    return out


def compare(case: Case, expected: dict[str, float], allowed: dict[str, float]) -> list[str]:
    said = said_figures(case.said)
    wrong = [f"{name} is on one side only" for name in said.keys() ^ expected.keys()]
    for name in said.keys() & expected.keys():
        error = abs(said[name] - expected[name])
        if not error <= allowed[name]:
            wrong.append(f"{name}: {said[name]}, expected {expected[name]}, which differs by more than {allowed[name]:.3g}")
    counts = {"texts": len(case.texts), "positions": sum(map(len, case.texts)),
              "scored_tokens": sum(len(scored(case, i)) for i in range(len(case.texts))),
              "scored_bytes": sum(byte_count(case, i, t) for i in range(len(case.texts)) for t in scored(case, i))}
    wrong += [f"{key}: {case.said[key]}, expected {value}" for key, value in counts.items() if case.said[key] != value]
    return sorted(wrong)


def call(program: str, *words: str, stdin: str = "") -> str:
    done = subprocess.run([program, *words], input=stdin, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def tokenize(program: str, folder: Path, texts: list[str]) -> list[list[int]]:
    out = call(program, "tokenize", "--model", str(folder), stdin="".join(json.dumps(t) + "\n" for t in texts))
    return [json.loads(line)["ids"] for line in out.splitlines()]


def detokenize(program: str, folder: Path, lists: list[list[int]]) -> list[str]:
    out = call(program, "tokenize", "--model", str(folder), "--decode", stdin="".join(json.dumps(t) + "\n" for t in lists))
    return [json.loads(line)["text"] for line in out.splitlines()]


def bytes_of(program: str, folder: Path, tokens: list[int]) -> list[int]:
    """Bytes of each token: what the text that ends with it has more than the one before, whole characters only."""
    texts = detokenize(program, folder, [tokens[: i + 1] for i in range(len(tokens))])
    ends = [0] + [len(text.rstrip("\ufffd").encode()) for text in texts]
    return [after - before for before, after in zip(ends, ends[1:])]


def contraction(program: str, folder: Path, control: str | None, *words: str) -> dict:
    extra = ["--control", control] if control else []
    return json.loads(call(program, "contraction", "--model", str(folder), "--passes", str(PASSES), "--threads", "1",
                           "--batch", "2", "--chunk", "7", "--quiet", "--json", *words, *extra))


def text_case(program: str, folder: Path, root: Path, control: str | None) -> Case:
    (root / "text.txt").write_text(TEXT)
    tokens = tokenize(program, folder, [TEXT])[0]
    windows = [tokens[i : i + WINDOW] for i in range(0, len(tokens), WINDOW)]
    said = contraction(program, folder, control, "--text", str(root / "text.txt"), "--window", str(WINDOW))
    if len(windows[-1]) <= PASSES:  # tells nothing
        assert said["source"]["tokens_left_out"] == len(windows.pop())
    return Case(f"{folder.name}, text{', ' + control if control else ''}", folder, windows, None,
                [bytes_of(program, folder, window) for window in windows], control, said)


def telling_items(program: str, folder: Path) -> list[tuple[str, str]]:
    """Questions with answers: to most of them an answer that some pass gives, clearly, as one token that is read back."""
    model, items = fbt.Model.load(folder), []
    for number in range(60):
        if len(items) == ITEMS - 1:
            break
        query = f"Question {number * 37 % 100}: how many passes?\nA:"
        prompt = tokenize(program, folder, [query])[0]
        runs = [run_pass(model, [prompt], p, None) for p in (*range(1, PASSES + 1), "exact")]
        logits = runs[number % len(runs)].logprobs[0][-1]
        word = detokenize(program, folder, [[int(logits.argmax())]])[0]
        clear = all(np.diff(np.sort(run.logprobs[0][-1])[-2:])[0] > 2 * CEILING for run in runs)
        if clear and word.strip() and word.isprintable() and word.isascii() and tokenize(
                program, folder, [query + word])[0] == prompt + [int(logits.argmax())]:
            items.append((query, word))
    assert len(items) == ITEMS - 1, f"{folder.name}: only {len(items)} telling items"
    return items + [("How many passes in all?\nA:", " as many as it takes")]


def suite_case(program: str, folder: Path, root: Path) -> Case:
    items = telling_items(program, folder)
    (root / "own.toml").write_text(SUITE)
    lines = [json.dumps({"query": query, "choices": ["nothing", word], "gold": 1}) for query, word in items]
    (root / "own.jsonl").write_text("\n".join(lines) + "\n")
    texts = tokenize(program, folder, [query + word for query, word in items])
    answer_from = [len(t) for t in tokenize(program, folder, [query for query, _ in items])]
    said = contraction(program, folder, None, "--suite", str(root / "own.toml"))
    return Case(f"{folder.name}, suite", folder, texts, answer_from,
                [bytes_of(program, folder, text) for text in texts], None, said)


# ---------------------------------------------------------------- comparison

_prefill, _recur, _fuse = fbt.prefill, fbt.recur, fbt.fuse
HERE = sys.modules[__name__]
# Mistakes planted in the reference: name, the module, what is replaced, whether only a suite can show it.
FAULTS = (
    ("position 1 stays plain", fbt, {"prefill": lambda m, t, p=1, **k: _prefill(m, t, p, fused_from=2, **k)}, False),
    ("one pass too few", fbt, {"prefill": lambda m, t, p=1, **k: _prefill(m, t, max(p - 1, 1), **k)}, False),
    ("the recurrence is plain", fbt, {"recur": lambda m, t, **k: _prefill(m, t, 1)}, False),
    ("the recurrence is the last pass", fbt, {"recur": lambda m, t, **k: _prefill(m, t, PASSES, **k)}, False),
    ("the feedback is one position late", fbt, {"fuse": lambda m, e, h, older, control=None: _fuse(m, e, older, older)}, False),
    ("the residual is relative to the later pass", HERE, {"residual": lambda now, before: apart(now, before) / norm(now.h)}, False),
    ("the first text alone is measured", HERE, {"norm": lambda parts: float(np.linalg.norm(parts[0]))}, False),
    ("norms are averaged", HERE, {"norm": lambda parts: float(np.mean([np.linalg.norm(part) for part in parts]))}, False),
    ("open positions begin one late", HERE, {"open_norm": lambda s, begin: norm([x[begin + 1 :] for x in s.h])}, False),
    ("the last token is not scored", HERE, {"scored": lambda c, i: range(1, len(c.texts[i]) - 1)}, False),
    ("the loss is that of the token before", HERE, {"predicted": lambda c, i, t: c.texts[i][t - 1]}, False),
    ("every token is one byte", HERE, {"byte_count": lambda c, i, t: 1}, False),
    ("the answer begins one token early", HERE, {"answered": lambda c, i: range(c.answer_from[i] - 1, len(c.texts[i]))}, True),
    ("a greedy answer is a greedy last token", HERE, {"answered": lambda c, i: range(len(c.texts[i]) - 1, len(c.texts[i]))}, True),
)


def check_faults(case: Case, model: fbt.Model, runs: list[Pass], allowed: dict[str, float]) -> list[str]:
    missed = []
    for name, module, patch, suite_only in FAULTS:
        if suite_only and not case.answer_from:
            continue
        with mock.patch.multiple(module, **patch):
            faulty = run_all(model, case) if module is fbt else runs
            if not compare(case, figures(case, faulty), allowed):
                missed.append(f"the fault goes unnoticed: {name}")
    return missed


def check_specification(case: Case, model: fbt.Model, runs: list[Pass]) -> list[str]:
    """What is computed here is what the specification's own functions say, text by text."""
    wrong = []
    for i, tokens in enumerate(case.texts):
        if not case.control:
            own = [residual(Pass([runs[p].h[i]], []), Pass([runs[p - 1].h[i]], [])) for p in range(1, PASSES)]
            if not np.allclose(own, fbt.residual_per_pass(model, tokens, PASSES), rtol=1e-12):
                wrong.append(f"text {i}: residual_per_pass differs")
        control = ":" + case.control if case.control else ""
        settings = ["standard"] + [f"parallel@{p}{control}" for p in range(2, PASSES + 1)] + ["latent" + control]
        for states, setting in zip(runs, settings):
            mine = [states.logprobs[i][t - 1, tokens[t]] for t in range(1, len(tokens))]
            if not np.allclose(mine, fbt.score(model, tokens[:1], tokens[1:], setting), atol=1e-9):
                wrong.append(f"text {i}: score under {setting} differs")
    return wrong


def check(case: Case, plant: bool) -> list[str]:
    model = fbt.Model.load(case.folder)
    runs = run_all(model, case)
    expected = figures(case, runs)
    allowed = tolerances(case, runs, [run_all(perturbed(model, draw), case) for draw in range(DRAWS)])
    wrong = check_specification(case, model, runs) + compare(case, expected, allowed)
    worst = max(allowed, key=allowed.get)
    if allowed[worst] > CEILING:
        wrong.append(f"{worst}: the tolerance {allowed[worst]:.3g} is above {CEILING}")
    if case.answer_from and len({value for name, value in expected.items() if name.endswith("greedy_share")}) < 2:
        wrong.append("the share of greedy answers is the same in every pass")
    if plant and not wrong:
        wrong += check_faults(case, model, runs, allowed)
    said = said_figures(case.said)
    ratio = max(abs(said[n] - expected[n]) / allowed[n] for n in said if allowed.get(n))
    print(f"{case.name}: {len(expected)} figures, {len(wrong)} wrong, largest error {ratio:.2f} of its tolerance, "
          f"residuals {said['pass 2 residual']:.2g} to {said[f'pass {PASSES} residual']:.2g}, {case.said['verdict']}", flush=True)
    return [f"{case.name}: {line}" for line in wrong]


def main() -> int:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    program, wrong = sys.argv[1], []
    with tempfile.TemporaryDirectory() as temporary:
        for shape in CHECKPOINTS:
            root = Path(temporary) / shape.name
            folder = checkpoints.write(shape, root / shape.name)
            for file in TOKENIZER.iterdir():
                shutil.copy(file, folder)
            cases = [text_case(program, folder, root, None), suite_case(program, folder, root)]
            if shape.feedback_gain == 1:
                cases.append(text_case(program, folder, root, "stale"))
            for number, case in enumerate(cases):
                wrong += check(case, plant=number < 2 and shape.name in FAULTY)
    for line in wrong:
        print("FAILED", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
