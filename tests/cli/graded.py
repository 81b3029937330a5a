"""What the comparisons of graders share: the data files, and verdicts of `fullband grade`."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

SKIP = 77
REPOSITORY = Path(__file__).resolve().parents[2]


def data_file(name):
    """The path of a public data file, e.g. `math500/test.jsonl`, or None where it is not at hand."""
    shared = os.environ.get("FULLBAND_SHARED")
    folders = [Path(shared)] if shared else [parent / "shared" for parent in Path(__file__).resolve().parents]
    for folder in folders:
        file = folder / "datasets" / name
        if file.exists():
            return file
    return None


def peer_fixture(name):
    return json.loads((REPOSITORY / "tests" / "data" / "peers" / name).read_text(encoding="utf-8"))


def graded(fullband, grader, pairs):
    """What `fullband grade --json` says of each (completion, gold): {"outcome", "extracted", "detail", ...}."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        with open(path, "w", encoding="utf-8") as file:
            for completion, gold in pairs:
                file.write(json.dumps({"completion": completion, "gold": gold}) + "\n")
        command = [fullband, "grade", "--grader", grader, "--pairs", str(path), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["items"]
