"""Compares PyTorch, the NumPy specification and the C++ engine on a shipped model, under every setting.

Run: compare_shipped.py PROGRAM [MODEL_FOLDER]...   (default: models/mini-fbt; skipped where that is not there)

Prompts are items of the bundled suites. Scoring: each of the three gives the item's own answer the same
log-probabilities within 2e-4; where the recurrence itself lets rounding grow past that (a control can: its feedback is
not what the weights were trained for), within what the specification's own numbers show when its states are moved by
as much as rounding moves them, which is listed. Decoding: the three greedy traces are the same token by token, up to
a step where the two best lie within 1e-3 of each other, which is listed (behind it traces may go apart). PyTorch and
the engine compute in float32, the specification in float64.
"""
from __future__ import annotations

import concurrent.futures
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import support
from support import HOME, fbt, np, torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

NEAR, TIE = 2e-4, 1e-3
# What float32 makes of a state, relative to its size, at most: PyTorch's differ from float64's by 4 to 16 times 2^-24
# after one pass. How far that grows differs from draw to draw tenfold where a recurrence is chaotic (the reversed
# control on one word problem: 4e-4 to 7e-3 in 40 draws of half that size), hence DRAWS. Even where rounding grows,
# log-probabilities that are FAR apart are wrong: any other control moves them by 6 and more there.
ROUNDING, DRAWS, FAR = 16 * 2.0**-24, 16, 2e-2
NEW_TOKENS, TOP = 24, 2
SUITES = {  # data file: key of the prompt, key of the answer, words around them
    "mini_state_tracking": ("question", "answer", "{}", " {}"),
    "mini_state_tracking_steps": ("question", "answer", "{}", " {}"),
    "mini_gsm8k": ("question", "answer", "Question: {}\nAnswer:", " {}"),
    "mini_humaneval": ("prompt", "canonical_solution", "{}", "{}"),
}
ITEMS = 3  # of each suite
SETTINGS = ("standard", "latent", "latent@2", "latent@3", "latent@exact", "standard@2",
            *(f"{setting}:{control}" for setting in ("latent", "latent@2") for control in fbt.CONTROLS))
SCORING = SETTINGS + ("parallel@2", "parallel@3")


@dataclass
class Item:
    name: str
    prompt: list[int]
    answer: list[int]


@dataclass
class Report:
    """What was compared; `wrong`, `ties` and `grown` (rounding that the recurrence lets grow) are lines to print;
    `worst` is the largest difference of two log-probabilities."""

    scores: int = 0
    traces: int = 0
    worst: float = 0.0
    wrong: list[str] = field(default_factory=list)
    ties: list[str] = field(default_factory=list)
    grown: list[str] = field(default_factory=list)


def items_of(folder, tokenizer, longest):
    """The first items of each suite whose prompt and answer fit; spread over the file."""
    found = []
    for suite, (prompt, answer, before, behind) in SUITES.items():
        path = folder / f"{suite}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for number in range(0, len(lines), max(len(lines) // ITEMS, 1)):
            item = json.loads(lines[number])
            if prompt not in item or answer not in item:
                raise SystemExit(f"{path}:{number + 1}: has no {prompt} and {answer}")
            ids = [tokenizer.encode(words.format(item[key])).ids
                   for words, key in ((before, prompt), (behind, answer))]
            if len(ids[0]) + max(len(ids[1]), NEW_TOKENS) <= longest and ids[1]:
                found.append(Item(f"{suite}:{number + 1}", ids[0], ids[1][:NEW_TOKENS]))
    return found


# ---------------------------------------------------------------- the three

def engine(program, folder, kind, item, setting):
    prompt, answer = (",".join(map(str, ids)) for ids in (item.prompt, item.answer))
    asked = ["decode", "--tokens", prompt, "--max-new", str(NEW_TOKENS), "--top", str(TOP)] if kind == "decode" else [
        "score", "--context-tokens", prompt, "--continuation-tokens", answer]
    done = subprocess.run([program, *asked, "--model", str(folder), "--setting", setting, "--threads", "1", "--json"],
                          capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"{item.name} {setting}: exit code {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


@torch.no_grad()
def torch_score(model, item, setting):
    """[len(answer)] log-probabilities."""
    if setting.startswith("parallel"):
        logits = model(torch.tensor([item.prompt + item.answer]), setting=setting).logits[0, len(item.prompt) - 1:-1]
    else:
        first = model(torch.tensor([item.prompt]), setting=setting)
        rest = model(torch.tensor([item.answer]), setting=setting, past_key_values=first.past_key_values,
                     states=first.states)
        logits = torch.cat([first.logits[0, -1:], rest.logits[0, :-1]])
    return torch.log_softmax(logits.double(), -1)[range(len(item.answer)), item.answer].numpy()


@torch.no_grad()
def torch_trace(model, item, setting, ends):
    """(ids, gap between the two best at each step) of generate()."""
    out = model.generate(torch.tensor([item.prompt]), setting=setting, max_new_tokens=NEW_TOKENS, do_sample=False,
                         eos_token_id=ends, pad_token_id=ends[0], return_dict_in_generate=True, output_logits=True)
    best = torch.log_softmax(torch.stack(out.logits)[:, 0].double(), -1).topk(2).values
    return out.sequences[0, len(item.prompt):].tolist(), (best[:, 0] - best[:, 1]).tolist()


def reference_trace(model, item, setting, ends):
    decoder, ids, gaps = fbt.Decoder(model, item.prompt, fbt.Setting.parse(setting)), [], []
    while len(ids) < NEW_TOKENS and not (ids and ids[-1] in ends):
        logprobs = fbt.log_softmax(decoder.logits())
        ids.append(int(logprobs.argmax()))
        gaps.append(float(np.diff(np.sort(logprobs)[-2:])[0]))
        decoder.append(ids[-1])
    return ids, gaps


def growth_of_rounding(model, item, setting, draws=DRAWS):
    """How far the specification's log-probabilities move, at most, when each of its states moves as in float32."""
    exact, stack = fbt.score(model, item.prompt, item.answer, setting), fbt.stack
    random, moved = np.random.default_rng(1), 0.0

    def rounded(*inputs):
        h = stack(*inputs)
        return h * (1 + ROUNDING * random.standard_normal(h.shape))

    with mock.patch.object(fbt, "stack", rounded):
        for _ in range(draws):
            moved = max(moved, float(np.abs(fbt.score(model, item.prompt, item.answer, setting) - exact).max()))
    return moved


# ---------------------------------------------------------------- comparisons

def compare_scores(report, what, growth=lambda: 0.0, **scores):
    """Every pair of the three, token by token. growth(): what rounding does to the specification's own scores;
    two that are compared can be off by that in opposite directions."""
    names = list(scores)
    for i, one in enumerate(names):
        for other in names[i + 1:]:
            error = float(np.abs(np.asarray(scores[one]) - np.asarray(scores[other])).max())
            report.worst = max(report.worst, error)
            if error <= NEAR:
                continue
            line, moved = f"{what}: log-probabilities of {one} and {other} differ by {error:.3g}", growth()
            if error <= min(2 * moved, FAR):
                report.grown.append(f"{line}; rounding moves the specification's own by {moved:.3g}")
            else:
                report.wrong.append(line)
    report.scores += 1


def compare_traces(report, what, **traces):
    """traces: (ids, gaps). They part only where the two best are near, in each of the three."""
    length = max(len(ids) for ids, _ in traces.values())
    for step in range(length):
        chosen = {name: ids[step] if step < len(ids) else None for name, (ids, _) in traces.items()}
        if len(set(chosen.values())) == 1:
            continue
        gaps = [gaps[step] for ids, gaps in traces.values() if step < len(ids)]
        line = f"{what}: step {step}: {chosen}, best two {max(gaps):.2g} apart"
        if len(gaps) == len(traces) and max(gaps) <= TIE:
            report.ties.append(line)
        else:
            report.wrong.append(line)
        break
    report.traces += 1


def ends_of(folder):
    """Ids of the tokens that end generation."""
    for name in ("generation_config.json", "config.json"):
        if (folder / name).exists():
            ends = json.loads((folder / name).read_text(encoding="utf-8")).get("eos_token_id")
            if ends is not None:
                return ends if isinstance(ends, list) else [ends]
    raise SystemExit(f"{folder}: names no eos_token_id")


def legal(config, setting):
    fusion = (config.get("latent_feedback") or {}).get("fusion")
    if fusion is None:
        return setting == "standard"
    return fusion == "glu" or "constant_gate" not in setting


def compare_folder(program, folder, report):
    model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True, dtype=torch.float32).eval()
    reference, ends = fbt.Model.load(folder), ends_of(folder)
    items = items_of(HOME / "tasks" / "mini", Tokenizer.from_file(str(folder / "tokenizer.json")),
                     reference.config["max_position_embeddings"])
    if not items:
        raise SystemExit(f"{folder}: no item fits its context")
    if "latent_feedback" not in reference.config:  # an ordinary model knows no settings
        forward, generate = model.forward, model.generate
        model.forward = lambda *a, setting=None, states=None, **k: forward(*a, **k)
        model.generate = lambda *a, setting=None, **k: generate(*a, **k)
    cases = [(kind, item, setting) for kind, settings in (("score", SCORING), ("decode", SETTINGS))
             for setting in settings if legal(reference.config, setting) for item in items]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda case: engine(program, folder, *case), cases))
    for (kind, item, setting), answer in zip(cases, answers):
        what = f"{folder.name} {setting} {item.name}"
        if kind == "score":
            compare_scores(report, what, lambda: growth_of_rounding(reference, item, setting),
                           engine=answer["logprobs"], torch=torch_score(model, item, setting),
                           reference=fbt.score(reference, item.prompt, item.answer, setting))
        else:
            gaps = [top[0][1] - top[1][1] for top in answer["top"]]
            compare_traces(report, what, engine=(answer["tokens"], gaps),
                           torch=torch_trace(model, item, setting, ends),
                           reference=reference_trace(reference, item, setting, ends))


def check_comparisons():
    """The comparisons see what they are for."""
    def report_of(compare, **three):
        report = Report()
        compare(report, "", **three)
        return len(report.wrong), len(report.ties), len(report.grown)

    same, far, near = ([1, 2], [1.0, 1.0]), ([1, 3], [1.0, 1.0]), ([1, 3], [1.0, 1e-4])
    tied = ([1, 2], [1.0, 1e-4])
    for expected, found in (
        ((0, 0, 0), report_of(compare_scores, a=[-1.0, -2.0], b=[-1.0, -2.0001], c=[-1.0, -2.0])),
        ((2, 0, 0), report_of(compare_scores, a=[-1.0, -2.0], b=[-1.0, -2.001], c=[-1.0, -2.0])),
        ((2, 0, 0), report_of(compare_scores, growth=lambda: 4e-4, a=[-1.0], b=[-1.001], c=[-1.0])),
        ((0, 0, 2), report_of(compare_scores, growth=lambda: 6e-4, a=[-1.0], b=[-1.001], c=[-1.0])),
        ((2, 0, 0), report_of(compare_scores, growth=lambda: 1.0, a=[-1.0], b=[-1.03], c=[-1.0])),
        ((3, 0, 0), report_of(compare_scores, growth=lambda: 1.0, a=[-1.0], b=[float("nan")], c=[float("nan")])),
        ((0, 0, 0), report_of(compare_traces, a=same, b=same, c=same)),
        ((1, 0, 0), report_of(compare_traces, a=same, b=far, c=same)),
        ((1, 0, 0), report_of(compare_traces, a=same, b=near, c=same)),
        ((0, 1, 0), report_of(compare_traces, a=tied, b=near, c=tied)),
        ((1, 0, 0), report_of(compare_traces, a=same, b=([1], [1.0]), c=same)),
    ):
        assert found == expected, (found, expected)


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    check_comparisons()
    folders = [Path(name) for name in sys.argv[2:]] or [HOME / "models" / "mini-fbt"]
    report = Report()
    for folder in folders:
        if not (folder / "config.json").exists():
            print(f"{folder} is not there; skipped")
            return 77
        compare_folder(sys.argv[1], folder, report)
    for line in report.ties:
        print(f"tie: {line}")
    for line in report.grown:
        print(f"grown: {line}")
    for line in report.wrong:
        print(f"FAILED {line}")
    print(f"{report.scores} scores, {report.traces} traces, {len(report.ties)} ties, {len(report.grown)} grown, "
          f"{len(report.wrong)} failed; the largest difference of two log-probabilities is {report.worst:.2g}")
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
