#!/usr/bin/env python3
"""One part of a GPU day: its steps one after the other, each with a time limit, and what they say kept as it comes.

    run.sh 1|2|3 [--device cuda:0] [--out DIR] [--pack FILE] [--quick] [--plan]

A step that fails or is cut off is recorded, and the next one goes on. Exit code: 0 if every step that ran passed, 1 otherwise.
"""

import argparse
import gzip
import json
import os
import pathlib
import shutil
import signal
import sys
import time

import steps
from recorder import Recorder

# A borrowed machine gives a command ten minutes.
PART_SECONDS = 525


def environment(root, out, device):
    """What every step sees: a cache of its own, and skips of this device's tests as failures."""
    chosen = {**os.environ, "KILN_CACHE": str(out / "cache"), "KILN_TEST_DEVICE": device, "CI": "true"}
    backend = device.split(":")[0]
    if backend != "cpu":
        chosen["KILN_REQUIRE"] = backend
    chosen["PYTHONPATH"] = str(root / "benches" / "peers" / "kernels")
    chosen["PYTHONDONTWRITEBYTECODE"] = "1"
    return chosen


def unpack(programs):
    """Unpacks the programs that travelled compressed, unless an earlier part has."""
    for packed in sorted(programs.glob("*.gz")):
        program = packed.with_suffix("")
        if program.exists():
            continue
        partial = program.with_suffix(".partial")
        with gzip.open(packed) as source, partial.open("wb") as out:
            shutil.copyfileobj(source, out)
        partial.chmod(0o755)
        partial.rename(program)


def main():
    parser = argparse.ArgumentParser(prog="run.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["1", "2", "3"], help="1: truth, 2: timing and tuning, 3: beside the vendor")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--out", type=pathlib.Path, help="where results go (default: results/ beside run.sh)")
    parser.add_argument("--pack", type=pathlib.Path, metavar="FILE", help="keep all results in this one .tar.gz too")
    parser.add_argument("--quick", action="store_true", help="fewer tests, problems and samples: a rehearsal")
    parser.add_argument("--plan", action="store_true", help="print the steps and their limits, and run nothing")
    parser.add_argument("--root", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.device.split(":")[0] not in steps.CONFORMANCE:
        parser.error(f"--device {asked.device}: it is cuda:0, hip:0, another number of these, or cpu")
    # What is cut off from outside leaves no process behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("cut off: what ended before is in the manifest"))
    start = time.monotonic()
    root, part = asked.root.resolve(), int(asked.part)
    out = (asked.out or root / "results").resolve()
    unpack(root / "bin")
    plan = steps.of_part(part, steps.Place(root, out, asked.device, asked.quick))
    total = sum(step.seconds for step in plan)
    if total > PART_SECONDS:
        raise SystemExit(f"part {part} may take {total} s, more than {PART_SECONDS} s")
    if asked.plan:
        print(json.dumps([{"step": step.name, "seconds": step.seconds, "command": step.command} for step in plan], indent=1))
        return 0
    recorder = Recorder(root, out, asked.device, asked.quick, environment(root, out, asked.device), asked.pack)
    passed = True
    for step in plan:
        left = PART_SECONDS - (time.monotonic() - start)
        passed &= recorder.run(part, step, left)
    recorder.finish(part)
    print(f"part {part}: {'every step passed' if passed else 'not every step passed'}; results are in {out}", flush=True)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
