#!/usr/bin/env python3
"""`fullband sandbox-check`: what it says agrees with its exit status, with and without bubblewrap on the path.

Usage: sandbox_check_test.py FULLBAND
"""
import json
import os
import subprocess
import sys


def check(program, *options, path=None):
    """Exit status and standard output of sandbox-check; `path` replaces $PATH."""
    environment = dict(os.environ, PATH=path) if path else None
    done = subprocess.run([program, "sandbox-check", *options], capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout


def main(program):
    status, text = check(program, "--json", "--repeats", "3")
    about = json.loads(text)
    assert status == (0 if about["works"] else 1), (status, about)
    assert about["works"] == (about["obstacles"] == []), about
    if about["works"]:
        assert about["program_ms"] > 0 and about["python_ms"] > 0, about
        assert about["bubblewrap_version"].startswith("bubblewrap "), about
    for obstacle in about["obstacles"]:
        assert obstacle["why"] and obstacle["remedy"], about

    status, text = check(program, "--json", path="/nonexistent")
    about = json.loads(text)
    assert status == 1 and not about["works"] and about["bubblewrap"] is None, about
    assert "bubblewrap is missing" in about["obstacles"][0]["why"], about

    status, text = check(program, path="/nonexistent")
    assert status == 1 and "does not work" in text and "bubblewrap is missing" in text, text
    print("sandbox-check agrees with itself")


if __name__ == "__main__":
    main(sys.argv[1])
