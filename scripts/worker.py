"""The long-lived worker process: does for `fullband` what only Python libraries do.

Frames on stdin and stdout: a 4-byte little-endian length and that many bytes of JSON (UTF-8).
Request {"job": NAME, ...}; reply {"ok": true, "result": ...} or {"ok": false, "error": TEXT}, with "missing": NAME
beside the error where a Python package is not installed, "limit": "memory" or "recursion" where the job wanted too much.
Ends when stdin does.
"""

import importlib
import json
import os
import signal
import struct
import sys
import threading
import time

# The program starts Python isolated (-I), which leaves the script's own folder out.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

MAX_FRAME = 256 << 20

# Job: (module, function). Imported at first use, so that a worker pays only for the packages that it needs.
# A function takes the request (a dict) and returns what JSON can hold.
JOBS = {
    "render_chat": ("worker_jobs.chat", "render_chat"),
    "prepare_grading": ("worker_jobs.grading", "prepare_grading"),
    "same_expression": ("worker_jobs.grading", "same_expression"),
    "math_verify": ("worker_jobs.grading", "math_verify"),
    "render_charts": ("worker_jobs.charts", "render_charts"),
    "chart_colours": ("worker_jobs.charts", "chart_colours"),
}


class Stop(Exception):
    """The other side is gone."""


def read_exactly(stream, count):
    data = stream.read(count)
    if len(data) != count:
        raise Stop
    return data


def read_frame(stream):
    (length,) = struct.unpack("<I", read_exactly(stream, 4))
    if length > MAX_FRAME:
        raise Stop
    return read_exactly(stream, length)


def failure(text):
    return json.dumps({"ok": False, "error": text}).encode("ascii")


def write_frame(stream, reply):
    try:
        data = json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:
        data = failure("the answer holds text that is not UTF-8")
    except (TypeError, ValueError) as error:
        data = failure(f"the answer is not JSON: {error}")
    if len(data) > MAX_FRAME:
        data = failure("the answer is larger than a frame may be")
    stream.write(struct.pack("<I", len(data)) + data)
    stream.flush()


def answer(frame):
    try:
        request = json.loads(frame)
        name = request["job"]
        if name not in JOBS:
            return {"ok": False, "error": f"unknown job '{name}'; known: {', '.join(JOBS)}"}
        module, function = JOBS[name]
        return {"ok": True, "result": getattr(importlib.import_module(module), function)(request)}
    except ModuleNotFoundError as error:
        return {"ok": False, "error": str(error), "missing": error.name}
    except (KeyboardInterrupt, SystemExit) as error:
        return {"ok": False, "error": f"the job tried to end the worker: {error!r}"}
    except RecursionError:
        return {"ok": False, "error": "nested too deeply", "limit": "recursion"}
    except (MemoryError, SystemError):  # the interpreter raises the latter where it overlooked a failed allocation
        return {"ok": False, "error": "out of memory", "limit": "memory"}
    except Exception as error:  # whatever a job raises is its answer, not the worker's end
        return {"ok": False, "error": str(error) or type(error).__name__}


def take_stdio():
    """The pipes of the protocol, moved where no library's print or input reaches them."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def end_with_parent():
    """A job that never returns does not see stdin end; so watch for the parent's death beside it."""
    parent = os.getppid()

    def watch():
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    requests, replies = take_stdio()
    end_with_parent()
    try:
        while True:
            write_frame(replies, answer(read_frame(requests)))
    except (Stop, BrokenPipeError):
        pass
    # Not sys.exit: threads that a library left behind must not keep the process.
    os._exit(0)


if __name__ == "__main__":
    main()
