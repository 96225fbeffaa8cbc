#!/usr/bin/env python3
"""Tests of a Rust test program, each in a process of its own and some beside each other; a JSON line a test, as soon as it ended.

    each_test.py --seconds 100 [--have FILE]... PROGRAM NAME...

Tests are those whose names begin with a NAME, in the order of the names. Those that passed in a FILE, which an earlier run printed, come
last. Exit code: 0 if all passed, and none was skipped.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

# Enough to keep compilers busy while the device computes for others.
BESIDE = min(8, len(os.sched_getaffinity(0)))
KEPT = 4000
# Tests of other devices than the one of the day, and tests that start cargo.
STAY = ["host_processor", "simulated", "gfx1"]


def listed(program):
    said = subprocess.run([program, "--list", "--format", "terse"], capture_output=True, text=True, check=True).stdout
    return [line.removesuffix(": test") for line in said.splitlines() if line.endswith(": test")]


def chosen(program, beginnings, passed=()):
    known = listed(program)
    found = {name: None for beginning in beginnings for name in known if name.startswith(beginning)}
    here = [name for name in found if not any(word in name for word in STAY)]
    return sorted(here, key=lambda name: name in passed)


def passed_in(files):
    """The tests that passed in earlier runs."""
    names = set()
    for file in files:
        with contextlib.suppress(OSError):
            for line in file.read_text().splitlines():
                # A run that was cut off may have left half a line.
                with contextlib.suppress(ValueError, KeyError):
                    test = json.loads(line)
                    names |= {test["test"]} if test["state"] == "passed" else set()
    return names


def run(program, name, deadline):
    start = time.monotonic()
    left = deadline - start
    result = {"test": name, "state": "cut off", "exit": None}
    if left > 0:
        try:
            command = [program, name, "--exact", "--nocapture"]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=left)
            said = done.stdout + done.stderr
            result |= {"exit": done.returncode, "state": "passed" if done.returncode == 0 else "failed", "said": said[-KEPT:]}
            if "skipped:" in done.stderr or "1 passed" not in done.stdout:
                result["state"] = "failed" if done.returncode else "skipped"
        except subprocess.TimeoutExpired:
            pass
    return result | {"seconds": round(time.monotonic() - start, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, required=True, help="for all of them")
    parser.add_argument("--have", type=pathlib.Path, action="append", default=[], help="what an earlier run printed")
    parser.add_argument("program")
    parser.add_argument("names", nargs="+")
    asked = parser.parse_args()
    deadline = time.monotonic() + asked.seconds
    passed = passed_in(asked.have)
    names = chosen(asked.program, asked.names, passed)
    states = []
    with concurrent.futures.ThreadPoolExecutor(BESIDE) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, asked.program, name, deadline) for name in names]):
            test = done.result()
            # There was no time to repeat what an earlier run knows.
            if test["state"] != "cut off" or test["test"] not in passed:
                print(json.dumps(test), flush=True)
                states.append(test["state"])
    return 0 if states and all(state == "passed" for state in states) else 1


if __name__ == "__main__":
    sys.exit(main())
