"""Hashes that stand in fixtures for texts, and for the tests that make the same texts anew."""
from __future__ import annotations

import hashlib
import json


def hash_of(lists) -> str:
    """Hex SHA-256 over (lists of lists of) strings."""
    return hashlib.sha256(json.dumps(lists).encode("ascii")).hexdigest()
