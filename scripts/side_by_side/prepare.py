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


def cache_folder() -> Path:
    named = os.environ.get("FULLBAND_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", "/tmp")) / ".cache") / "fullband"


@dataclass
class Setup:
    program: Path
    peers_python: Path
    model: Path | None = None  # float32 checkpoint
    bfloat16: Path | None = None  # the same rounded
    ggufs: dict[str, Path] = field(default_factory=dict)  # by weights
    llama_cpp: Path | None = None  # as scripts/peers/build_llama_cpp prints it
    data: Path | None = None


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
    """The one set of weights (scripts/fetch_smollm2) in every form that these engines are measured with in these
    stages; what is made is kept in the user's cache folder."""
    setup.model = script(SCRIPTS / "fetch_smollm2")
    if all(stage in works.END_TO_END for stage in stages):  # float32 alone
        return
    folder = cache_folder() / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    setup.bfloat16 = folder / f"{setup.model.name}-bf16"
    if works.FULLBAND in engines and not setup.bfloat16.exists():
        say(f"making {setup.bfloat16}")
        script(
            SCRIPTS / "convert_gguf",
            "--in",
            script(SCRIPTS / "fetch_smollm2", "--gguf"),
            "--out",
            setup.bfloat16,
            "--dtype",
            "bf16",
        )
    if works.LLAMA_CPP not in engines:
        return
    for weights, kind in GGUF_TYPES.items():
        path = setup.ggufs[weights] = folder / f"{setup.model.name}-{kind.lower()}.gguf"
        if not path.exists():
            say(f"making {path}")
            script(
                setup.peers_python,
                SCRIPTS / "side_by_side/gguf_copy.py",
                script(SCRIPTS / "fetch_smollm2", "--gguf"),
                path,
                kind,
            )
    setup.llama_cpp = script(SCRIPTS / "peers/build_llama_cpp", FULLBAND_PEERS_PYTHON=str(setup.peers_python))


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
