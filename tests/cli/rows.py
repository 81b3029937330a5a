"""What a row of the table in bad_input_test.py is."""
from __future__ import annotations

import contextlib
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable


class Skip(Exception):
    """This machine cannot have the row's input."""


@dataclass
class Place:
    """Where one row works: `folder` is its own; `good` and `ordinary` are sound model folders, not to be changed."""

    folder: Path
    good: Path
    ordinary: Path
    program: str
    cleanup: contextlib.ExitStack
    stdin: bytes = b""

    @property
    def store(self) -> Path:
        return self.folder / "a.db"

    def small_mount(self, size: str) -> Path:
        """A tmpfs of that size. It goes when the row is done."""
        folder = self.folder / "mount"
        folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], capture_output=True)
        if done.returncode != 0:
            raise Skip("a small tmpfs needs root")
        self.cleanup.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)
        return folder


@dataclass
class Row:
    """One broken input. `make` prepares it and returns the command line; the message must have all of `words`."""

    name: str
    make: Callable[[Place], list[str]]
    code: int
    words: list[str] = field(default_factory=list)
