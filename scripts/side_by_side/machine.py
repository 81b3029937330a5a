"""Which machine and which versions a measurement is of."""

from __future__ import annotations

import os
import platform
from pathlib import Path

BUSY = 0.5  # processes that run or wait, on average over the last minute


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def vector_flags() -> list[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return []
    flags = next((line.split(":", 1)[1].split() for line in lines if line.startswith("flags")), [])
    return sorted(flag for flag in flags if flag.startswith(("avx", "amx", "fma")))


def describe() -> dict:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": memory,
        "system": platform.platform(),
        "vector_instructions": vector_flags(),
        "load_at_start": os.getloadavg()[0],
    }


def is_busy(description: dict) -> bool:
    return description["load_at_start"] > BUSY
