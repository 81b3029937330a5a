"""What is measured with, found or made: programs, the model in each engine's form, data. Every way to fail names the
script that helps."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import works
from fault import Fault

HOME = Path(__file__).resolve().parents[2]
SCRIPTS = HOME / "scripts"
DATA_FILES = {
    "gsm8k": ("gsm8k/test.jsonl", "gsm8k/train.jsonl"),
    "arc_easy": ("mosaic_icl/world_knowledge/arc_easy.jsonl",),
}
GGUF_TYPES = {"float32": "F32", "float16": "F16", "bfloat16": "BF16"}
CHECKPOINT_TYPES = {"bfloat16": "bf16", "float32": "f32"}
# In the names of all that is made of the model: other contents get another one, so that no file left by an earlier
# state of these scripts is taken for one of these.
FORM = "rounded"


def cache_folder() -> Path:
    named = os.environ.get("FULLBAND_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", "/tmp")) / ".cache") / "fullband"


@dataclass
class Setup:
    program: Path
    peers_python: Path
    model: Path | None = None  # the bfloat16 checkpoint whose numbers all compute with
    widened: Path | None = None  # the same numbers as a float32 checkpoint
    wide: Path | None = None  # a float32 checkpoint of the same shape, whose numbers no bfloat16 holds
    ggufs: dict[str, Path] = field(default_factory=dict)  # by weights; of the model's numbers
    llama_cpp: Path | None = None  # as scripts/peers/build_llama_cpp prints it
    data: Path | None = None


def own_python() -> Path:
    """The interpreter that scripts/setup makes for the scripts."""
    path = Path(os.environ.get("FULLBAND_PYTHON", HOME / ".venv/bin/python3"))
    if not os.access(path, os.X_OK):
        raise Fault(path, "no such interpreter", "scripts/setup")
    return path


def script(path: Path, *arguments, **environment) -> Path:
    """Runs a script of ours that prints the path of what it made; what it says goes to standard error."""
    try:
        done = subprocess.run(
            [path, *arguments],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **environment},
        )
    except OSError as error:
        raise Fault(path, error.strerror) from error
    if done.returncode != 0:
        raise Fault(path, f"ended with status {done.returncode}; what it says is above", "--engines leaves engines out")
    return Path(done.stdout.strip().splitlines()[-1]) if done.stdout.strip() else path


def require_programs(setup: Setup, needs_peers: bool) -> None:
    if not os.access(setup.program, os.X_OK):
        raise Fault(setup.program, "is no program", "scripts/build release fullband")
    if needs_peers and not os.access(setup.peers_python, os.X_OK):
        raise Fault(
            setup.peers_python,
            "no such interpreter",
            "scripts/setup --peers, or name another with --peers-python or $FULLBAND_PEERS_PYTHON",
        )


def prepare_models(setup: Setup, engines, stages, say) -> None:
    """The one set of numbers in every form that these engines are measured with in these stages: what
    scripts/fetch_smollm2 has, rounded to bfloat16, as the published model is stored. What is made is kept in the user's
    cache folder."""
    setup.wide = script(SCRIPTS / "fetch_smollm2")
    folder = cache_folder() / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"{setup.wide.name}-{FORM}"
    setup.model = checkpoint(setup, stem, "bfloat16", say)
    if all(stage in works.END_TO_END for stage in stages):  # the one checkpoint on both sides
        return
    if works.FULLBAND in engines:
        setup.widened = checkpoint(setup, stem, "float32", say)
    if works.LLAMA_CPP in engines:
        setup.ggufs = {weights: gguf(setup, stem, weights, say) for weights in GGUF_TYPES}
        setup.llama_cpp = script(SCRIPTS / "peers/build_llama_cpp", FULLBAND_PEERS_PYTHON=str(setup.peers_python))


def gguf(setup: Setup, stem: Path, weights: str, say) -> Path:
    kind = GGUF_TYPES[weights]
    path = stem.with_name(f"{stem.name}-{kind.lower()}.gguf")
    if not path.exists():
        say(f"making {path}")
        source = script(SCRIPTS / "fetch_smollm2", "--gguf")
        script(own_python(), SCRIPTS / "side_by_side/gguf_copy.py", source, path, kind)
    return path


def checkpoint(setup: Setup, stem: Path, weights: str, say) -> Path:
    """Of the float32 GGUF, whose numbers either type holds exactly."""
    kind = CHECKPOINT_TYPES[weights]
    path = stem.with_name(f"{stem.name}-{kind}")
    if not path.exists():
        source = gguf(setup, stem, "float32", say)
        say(f"making {path}")
        script(SCRIPTS / "convert_gguf", "--in", source, "--out", path, "--dtype", kind)
    return path


def find_data(named: Path | None, stages) -> Path | None:
    """The folder that holds the data files of the end-to-end stages: the one named, or the first of the usual ones."""
    files = [file for stage in stages for file in DATA_FILES.get(stage, ())]
    if not files:
        return None
    usual = [
        os.environ.get("FULLBAND_DATA"),
        cache_folder() / "data",
        Path(os.environ.get("FULLBAND_SHARED", HOME.parent / "shared")) / "datasets",
    ]
    tried = [Path(folder) for folder in ([named] if named else usual) if folder]
    for folder in tried:
        if all(os.access(folder / file, os.R_OK) for file in files):
            return folder
    suites = ",".join(stage for stage in stages if stage in DATA_FILES)
    raise Fault(
        " or ".join(str(folder) for folder in tried),
        "no data there that these suites are asked from",
        f"fullband data fetch --suite {suites}, or --data-dir",
    )
