"""The peak memory that `fullband inspect` states before a run against what the run then takes.

Run: python3 memory_test.py PROGRAM [--real]

The shipped models (with --real SmolLM2, where it has been fetched) run suites under several batches, prompts,
settings and sizes of the prefix cache. The largest resident size that the system reports of the run must be within
10 % of what `inspect` stated for it, with the same options. That the comparison can fail is seen, too: what is
stated for one run must not fit another that differs in what costs most.
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 0.10
SMOLLM2 = ROOT / "models" / "smollm2-135m-instruct"


@dataclass(frozen=True)
class Case:
    """A run: the model's folder and the words that `inspect` and `run` both take."""

    model: str
    words: str


SHIPPED = [
    Case("mini-fbt", "--suite mini_gsm8k --limit 40 --batch 16 --max-new 48 --setting standard"),
    Case("mini-fbt", "--suite mini_gsm8k --limit 120 --batch 48 --setting latent@2"),
    Case("mini-fbt", "--suite mini_choice --limit 150 --batch 4 --setting latent@3"),
    Case("mini-two-pass", "--suite mini_choice,mini_state_tracking --limit 120 --batch 16 --setting standard,latent@2"),
    Case("mini-standard", "--suite mini_gsm8k --limit 20 --batch 8 --setting standard --prefix-cache off"),
    Case("mini-fbt", "--suite mini_choice --limit 150 --batch 8 --setting parallel@2 --prefix-cache 8M"),
]
REAL = [
    Case("smollm2-135m-instruct", "--suite mini_gsm8k --limit 6 --max-new 24 --batch 4 --setting standard"),
    Case("smollm2-135m-instruct", "--suite mini_choice --limit 12 --batch 16 --setting standard"),
    Case("smollm2-135m-instruct", "--suite mini_choice --limit 6 --shots 0 --batch 32 --setting standard --prefix-cache off"),
]


def environment() -> dict[str, str]:
    # Threads that spin while they wait would stall each other on a busy machine.
    return os.environ | {"OMP_WAIT_POLICY": "passive"}


def stated(program: str, case: Case) -> list[dict]:
    """The `runs` of `inspect --json`: one for a batch that is a number."""
    command = [program, "inspect", "--json", "--model", str(ROOT / "models" / case.model), *case.words.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment(), check=True)
    return json.loads(done.stdout)["runs"]


def taken(program: str, case: Case) -> int:
    """Bytes of the run's largest resident size, as the system counted them."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "run", "--quiet", "--model", str(ROOT / "models" / case.model), *case.words.split(),
                   "--store", str(Path(folder) / "store.db")]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}")
        return usage.ru_maxrss * 1024


def fits(bytes_stated: int, bytes_taken: int) -> bool:
    return abs(bytes_stated / bytes_taken - 1) <= TOLERANCE


def total(run: dict) -> int:
    """Bytes: the program with what is there while weights are loaded, or with all that is there later."""
    later = sum(run[name] for name in ("packed_bytes", "page_bytes", "state_bytes", "workspace_bytes"))
    return run["program_bytes"] + max(run["loading_bytes"], later)


def check(program: str, case: Case, measured: dict[Case, int]) -> list[str]:
    runs = stated(program, case)
    if len(runs) != 1 or total(runs[0]) != runs[0]["peak_bytes"]:
        return [f"{case}: the parts are not the whole: {runs}"]
    measured[case] = taken(program, case)
    ratio = runs[0]["peak_bytes"] / measured[case]
    print(f"{case.model} {case.words}: {runs[0]['peak_bytes'] / 2**20:.1f} MiB stated, {ratio:.3f} of what was taken")
    return [] if fits(runs[0]["peak_bytes"], measured[case]) else [f"{case}: {ratio:.3f} of what was taken: {runs}"]


def check_automatic(program: str) -> list[str]:
    """--batch auto is stated for its first and its largest batch; a run ends up between them."""
    case = Case("mini-fbt", "--suite mini_gsm8k --limit 120 --setting standard")
    least, most = stated(program, case)
    size = taken(program, case)
    if least["peak_bytes"] * (1 - TOLERANCE) <= size <= most["peak_bytes"] * (1 + TOLERANCE):
        return []
    return [f"--batch auto took {size}, stated were {least} and {most}"]


def check_that_others_do_not_fit(program: str, measured: dict[Case, int]) -> list[str]:
    """What is stated of a larger batch, more items or more passes is not what a smaller run took."""
    first = next(iter(measured))
    others = [first.words.replace("--batch 16", "--batch 40"), first.words.replace("standard", "latent@3"),
              first.words.replace("--limit 40", "--limit 400")]
    return [f"{words} is stated as the run of {first} is" for words in others
            if fits(stated(program, Case(first.model, words))[0]["peak_bytes"], measured[first])]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--real", action="store_true", help="SmolLM2 instead of the shipped models")
    options = parser.parse_args()
    if options.real and not SMOLLM2.exists():
        print(f"{SMOLLM2} is missing (run scripts/fetch_smollm2); skipped")
        return 77
    measured: dict[Case, int] = {}
    failures = [line for case in (REAL if options.real else SHIPPED) for line in check(options.program, case, measured)]
    if not options.real:
        failures += check_automatic(options.program) + check_that_others_do_not_fit(options.program, measured)
    for line in failures:
        print("FAILED", line)
    print(f"{len(measured)} runs, {len(failures)} faults")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
