"""The data files that this program makes itself, of nothing: the same bytes on any machine."""
import hashlib

from data.fault import Fault
from mini import long_prompts

SCRIPT = "scripts/make_long"


def long_needle():
    return long_prompts.json_lines("needle")


def long_state_tracking():
    return long_prompts.json_lines("state_tracking")


GENERATORS = {function.__name__: function for function in (long_needle, long_state_tracking)}


def bytes_of(file):
    """What the file is to hold, made anew."""
    made = GENERATORS[file.generate]()
    sha256 = hashlib.sha256(made).hexdigest()
    if sha256 != file.sha256:
        raise Fault(file.path, f"what {SCRIPT} makes has SHA-256 {sha256}, not {file.sha256}; it was not kept",
                    "are scripts/mini and tasks/data/sources.toml of one version?")
    return made
