#!/usr/bin/env python3
"""One call of a GPU day: the steps of one list, most valuable first, as many as fit into the given seconds.

    run.sh A|B --seconds N [--have DIR] [--device cuda:0] [--out DIR] [--pack FILE] [--quick] [--plan]

A step that fails or is cut off is recorded, and the next one goes on. Exit code: 0 if every step that ran passed, 1 otherwise, and 3 if
the gate says that nothing can work here; the last line says why.
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import sys
import threading
import time

import gate
import steps
from recorder import Recorder

# Time for the last step and the last archive.
KEPT_SECONDS = 8


def environment(place):
    """What every step sees: a cache of its own, and skips of this device's tests as failures."""
    chosen = {**os.environ, "KILN_CACHE": str(place.out / "cache"), "KILN_TEST_DEVICE": place.device}
    if place.backend == "cpu":
        chosen["CI"] = "true"
    else:
        # `CI` would also require what only other devices need.
        chosen.pop("CI", None)
        chosen["KILN_REQUIRE"] = place.backend
    chosen["PYTHONPATH"] = str(place.root / "benches" / "peers" / "kernels")
    chosen["PYTHONDONTWRITEBYTECODE"] = "1"
    if pathlib.Path("/usr/local/cuda/bin").is_dir():
        chosen["PATH"] = f"/usr/local/cuda/bin:{chosen.get('PATH', '')}"
    return chosen


def prepare_cache(place):
    """The images that were compiled at home go into the cache of the day. `tune` trusts only files that nobody else can write."""
    carried, cache = place.root / "cache", place.out / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    if carried.is_dir():
        for path in [carried, *carried.rglob("*")]:
            to = cache / path.relative_to(carried)
            if path.is_dir():
                to.mkdir(exist_ok=True)
            elif not to.exists():
                to.write_bytes(path.read_bytes())
            to.chmod(0o700 if path.is_dir() else 0o600)
    cache.chmod(0o700)


def parse():
    parser = argparse.ArgumentParser(prog="run.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("call", choices=["A", "B"], help="the name of the call, under which its steps are recorded")
    parser.add_argument("--seconds", type=int, required=True, help="when the call ends, whatever was done by then")
    parser.add_argument("--have", type=pathlib.Path, help="results of an earlier call (default: have/ beside run.sh, if it is there)")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--out", type=pathlib.Path, help="where results go (default: results/ in the folder of run.sh)")
    parser.add_argument("--pack", type=pathlib.Path, metavar="FILE", help="keep all results in this one .tar.gz too")
    parser.add_argument("--quick", action="store_true", help="fewer tests, problems and samples: a rehearsal")
    parser.add_argument("--plan", action="store_true", help="print the steps and their limits, and run nothing")
    parser.add_argument("--root", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.device.split(":")[0] not in steps.CONFORMANCE:
        parser.error(f"--device {asked.device}: it is cuda:0, hip:0, another number of these, or cpu")
    return asked


def place_of(asked):
    root = asked.root.resolve()
    have = asked.have or root / "have"
    if asked.have and not (have / "manifest.json").is_file():
        raise SystemExit(f"--have {have}: there is no manifest.json\nhelp: name the folder `results` of an earlier call")
    have = have.resolve() if (have / "manifest.json").is_file() else None
    return steps.Place(root, (asked.out or root / "results").resolve(), asked.device, asked.quick, have)


def main():
    asked = parse()
    start = time.monotonic()
    left = lambda: asked.seconds - (time.monotonic() - start)
    place = place_of(asked)
    plan = steps.of_call(place)
    if asked.plan:
        shown = steps.that_fit(plan, asked.seconds - KEPT_SECONDS)
        print(json.dumps([{"step": step.name, "seconds": step.seconds, "command": step.command} for step in shown], indent=1))
        return 0
    # What is cut off from outside leaves no process behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("cut off: what ended before is in the manifest"))
    held = gate.hold_driver()
    prepare_cache(place)
    recorder = Recorder(place, environment(place), asked.pack and asked.pack.resolve())
    *early, last = plan
    states, aside = [], []
    for step in early:
        if step.aside:
            aside.append(threading.Thread(target=recorder.run, args=(asked.call, step, left() - KEPT_SECONDS), daemon=True))
            aside[-1].start()
            continue
        code, state = recorder.run(asked.call, step, left() - KEPT_SECONDS)
        states.append(state)
        if step.can_end and code == 3:
            print(f"the day ends here: {why(recorder, asked.call, step)}", flush=True)
            return 3
    for thread in aside:
        thread.join(timeout=max(0, left()))
    states.append(recorder.run(asked.call, last, left())[1])
    recorder.finish(asked.call)
    passed = all(state in ("passed", "skipped", "no time") for state in states)
    print(f"call {asked.call}: {'every step that ran passed' if passed else 'not every step passed'}; results are in {place.out}", flush=True)
    if held:
        held.close()
    return 0 if passed else 1


def why(recorder, call, step):
    with contextlib.suppress(OSError, ValueError, KeyError):
        return json.loads((recorder.out / call / f"{step.name}.json").read_text())["why"]
    return f"{step.name} printed no reason; look at {call}/{step.name}.err"


if __name__ == "__main__":
    sys.exit(main())
