"""Compares the program's `decode` and `score` with the specification in fbt_reference.py.

Run: python3 compare_engine.py PROGRAM   (needs numpy only)

Tolerance. A float32 inner product of n terms, in any fixed order, is the exact one of operands that differ by a
relative n * u at most (u = 2^-24; Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), and by about
sqrt(n) * u where rounding errors are independent (Higham and Mary 2019). The other operations (norms, softmax, SiLU,
rotation) add a few u an element. So the engine computes the exact function of slightly different weights, elementwise
within sqrt(n) * u, n being the longest inner product. How far that moves a log-probability depends on the model, the
setting and the position, since fused positions pass errors on. It is measured: the float64 reference is run DRAWS
times with every weight multiplied by 1 + sqrt(n) u s, s drawn from [-1, 1]. The tolerance of a step is FACTOR times
the largest change of any log-probability at that step or before it, the factor covering that the engine's errors are
other ones at each position; and at least FLOOR, for the rounding of the result itself (2u times a log-probability of
up to 32). Weights in f16 and bf16 are widened exactly, so nothing is added for them. A case whose tolerance
exceeds CEILING is too sensitive to show anything, and fails.

Tokens are compared by following the engine's: each must be the reference's best within the tolerance of two
log-probabilities, so only near ties may differ.
"""
from __future__ import annotations

import concurrent.futures
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

try:
    import numpy as np
except ModuleNotFoundError:
    print("numpy is missing: run scripts/setup")
    sys.exit(77)  # skipped

import checkpoints
import faults
import fbt_reference as fbt

UNIT = 2.0**-24
DRAWS, FACTOR, FLOOR, CEILING = 3, 3.0, 4e-6, 1e-2
NEW_TOKENS, TOP = 6, 3

DECODE_SETTINGS = (
    "standard", "standard@2", "standard@2:stale", "latent", "latent@2", "latent@3", "latent@exact",
    "latent:zero", "latent:stale", "latent:reversed", "latent:constant_gate",
    "latent@2:zero", "latent@2:stale", "latent@3:reversed", "latent@exact:stale", "latent@exact:constant_gate",
)
SCORE_SETTINGS = DECODE_SETTINGS + (
    "standard@exact", "parallel@1", "parallel@2", "parallel@4", "parallel@2:reversed", "parallel@3:stale",
    "parallel@2:zero", "parallel@2:constant_gate",
)


@dataclass
class Case:
    """One question to the program and what it answered."""

    shape: checkpoints.Shape
    folder: Path
    kind: str  # "decode" or "score"
    setting: str
    prompt: list[int]
    continuation: list[int]
    answer: dict | None = None

    @property
    def name(self):
        return f"{self.shape.name} {self.kind} {self.setting}"

    def tokens(self):
        return self.answer["tokens"] if self.kind == "decode" else self.continuation


def legal(shape: checkpoints.Shape, setting: str) -> bool:
    if shape.fusion is None:
        return setting in ("standard", "parallel@1")
    return shape.fusion == "glu" or "constant_gate" not in setting


def cases_of(shape: checkpoints.Shape, folder: Path) -> list[Case]:
    rng = np.random.default_rng(shape.prompt)
    prompt = [int(t) for t in rng.integers(0, shape.vocab, shape.prompt)]
    continuation = [int(t) for t in rng.integers(0, shape.vocab, 7)]
    settings = [("decode", s) for s in DECODE_SETTINGS] + [("score", s) for s in SCORE_SETTINGS]
    return [Case(shape, folder, kind, s, prompt, continuation) for kind, s in settings if legal(shape, s)]


def command(program: str, case: Case) -> list[str]:
    prompt, continuation = (",".join(map(str, ids)) for ids in (case.prompt, case.continuation))
    common = ["--model", str(case.folder), "--setting", case.setting, "--threads", "1", "--chunk", "8", "--json"]
    if case.kind == "decode":
        return [program, "decode", "--tokens", prompt, "--max-new", str(NEW_TOKENS), "--top", str(TOP), *common]
    return [program, "score", "--context-tokens", prompt, "--continuation-tokens", continuation, *common]


def ask(program: str, case: Case) -> None:
    done = subprocess.run(command(program, case), capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"{case.name}: exit code {done.returncode}: {done.stderr.strip()}")
    case.answer = json.loads(done.stdout)


def reference_logprobs(model: fbt.Model, case: Case) -> np.ndarray:
    """[steps, V]: log-probabilities before each token of the case, the tokens being forced."""
    setting, tokens = fbt.Setting.parse(case.setting), case.tokens()
    if setting.mode == "parallel":
        h, _ = setting.prefill(model, case.prompt + tokens)
        return fbt.log_softmax(h[len(case.prompt) - 1 : -1] @ model.head().T)
    decoder, rows = fbt.Decoder(model, case.prompt, setting), []
    for token in tokens:
        rows.append(decoder.logits())
        decoder.append(token)
    return fbt.log_softmax(np.stack(rows))


def perturbed(model: fbt.Model, draw: int) -> fbt.Model:
    rng = np.random.default_rng(draw)
    size = UNIT * np.sqrt(max(w.shape[-1] for w in model.w.values()))
    return fbt.Model(model.config, {n: w * (1 + size * rng.uniform(-1, 1, w.shape)) for n, w in model.w.items()})


def tolerance(model: fbt.Model, case: Case, exact: np.ndarray) -> np.ndarray:
    """[steps]: see the top of this file."""
    moved = [np.abs(reference_logprobs(perturbed(model, d), case) - exact).max(-1) for d in range(DRAWS)]
    return np.maximum(FACTOR * np.maximum.accumulate(np.max(moved, 0)), FLOOR)


def compare(case: Case, expected: np.ndarray, allowed: np.ndarray) -> list[str]:
    """What is wrong with the program's answer; empty where nothing is."""
    answer, tokens, wrong = case.answer, case.tokens(), []
    if len(tokens) != len(expected) or len(answer["logprobs"]) != len(tokens):
        return [f"{len(answer['logprobs'])} log-probabilities for {len(tokens)} tokens"]
    best = expected.max(-1)
    for i, token in enumerate(tokens):
        error = abs(answer["logprobs"][i] - expected[i, token])
        if not error <= allowed[i]:
            wrong.append(f"step {i}: token {token} differs by {error:.3g}, allowed {allowed[i]:.3g}")
        short = best[i] - expected[i, token]
        if case.kind == "decode" and not short <= 2 * allowed[i]:
            wrong.append(f"step {i}: token {token} is {short:.3g} below the best")
        if case.kind == "decode":
            wrong += compare_top(answer["top"][i], expected[i], allowed[i], i)
        elif answer["greedy"][i] != (short <= 0) and np.sort(best[i] - expected[i])[1] > 2 * allowed[i]:
            wrong.append(f"step {i}: greedy is {answer['greedy'][i]}, the token lies {short:.3g} below the best")
    if case.kind == "score" and abs(answer["sum"] - sum(answer["logprobs"])) > 1e-9 + FLOOR:
        wrong.append(f"sum {answer['sum']} is not that of the log-probabilities")
    return wrong


def compare_top(top: list, expected: np.ndarray, allowed: float, step: int) -> list[str]:
    ranked, wrong = np.sort(expected)[::-1], []
    if len({token for token, _ in top}) != TOP:
        wrong.append(f"step {step}: top lists {top}")
    for rank, (token, logprob) in enumerate(top):
        if not (abs(logprob - expected[token]) <= allowed and abs(expected[token] - ranked[rank]) <= 2 * allowed):
            wrong.append(f"step {step}: top {rank} is {token} at {logprob}, expected {ranked[rank]}")
    return wrong


def check_cases(cases: list[Case]) -> int:
    failures, worst = 0, 0.0
    models = {folder: fbt.Model.load(folder) for folder in {case.folder for case in cases}}
    for case in cases:
        model = models[case.folder]
        expected = reference_logprobs(model, case)
        allowed = tolerance(model, case, expected)
        wrong = compare(case, expected, allowed)
        if allowed.max() > CEILING:
            wrong.append(f"tolerance {allowed.max():.3g} is above {CEILING}")
        errors = [abs(p - e[t]) for p, e, t in zip(case.answer["logprobs"], expected, case.tokens())]
        worst = max(worst, *(e / a for e, a in zip(errors, allowed)))
        failures += bool(wrong)
        for line in wrong[:3]:
            print(f"FAILED {case.name}: {line}")
    print(f"{len(cases)} cases, {failures} failed; the largest error is {worst:.2f} of its tolerance")
    return failures


def check_faults(cases: list[Case]) -> int:
    """The comparison must notice every planted fault, in one of the cases that it bears on."""
    missed = 0
    for fault in faults.FAULTS:
        subjects = [c for c in cases if (c.shape.name, c.setting) == (fault.shape, fault.setting)]
        assert subjects, f"no case for the fault {fault.name}"
        for case in subjects:
            model = fbt.Model.load(case.folder)
            allowed = tolerance(model, case, reference_logprobs(model, case))
            with fault.planted():
                found = compare(case, reference_logprobs(fault.spoil(model), case), allowed)
            if not found:
                missed += 1
                print(f"FAILED the fault {fault.name} goes unnoticed in {case.name}")
    print(f"{len(faults.FAULTS)} planted faults, {missed} unnoticed")
    return missed


def check_refusals(program: str, folders: dict[str, Path]) -> int:
    """Settings that a model cannot run end in exit code 2 and say why."""
    rows = [
        ("ordinary", "latent", "latent_feedback.state_proj.weight"),
        ("ordinary", "standard@2", "latent_feedback.state_proj.weight"),
        ("untied_additive_bf16", "latent:constant_gate", "constant_gate"),
        ("tied_glu", "standard:zero", "zero"),
    ]
    failed = 0
    for shape, setting, word in rows:
        done = subprocess.run([program, "decode", "--model", str(folders[shape]), "--tokens", "1,2", "--max-new", "2",
                               "--setting", setting, "--json"], capture_output=True, text=True, timeout=120)
        if done.returncode != 2 or word not in done.stderr or done.stdout or done.stderr.count("\n") != 1:
            failed += 1
            print(f"FAILED {shape} {setting}: exit code {done.returncode}, {done.stderr!r}")
    print(f"{len(rows)} refusals, {failed} failed")
    return failed


def main() -> int:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as temporary:
        folders = {s.name: checkpoints.write(s, Path(temporary) / s.name) for s in checkpoints.SHAPES}
        cases = [c for s in checkpoints.SHAPES for c in cases_of(s, folders[s.name])]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda case: ask(program, case), cases))
        failures = check_cases(cases) + check_faults(cases) + check_refusals(program, folders)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
