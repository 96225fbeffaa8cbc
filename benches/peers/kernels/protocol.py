"""What `tune bench --peer COMMAND` speaks with a peer: one JSON object a line.

    peer:  {"peer": "NumPy 2.1.0"}
    tune:  {"open": {"kernel": .., "problem": {"n": 1024, "T": "f32"}, "args": [..]}}
    peer:  {"opened": "np.add", "threads": 1}    or {"unsupported": "why"}
    tune:  {"time": 10}
    peer:  {"ns": 123456, "cpu_ns": 120000}      all ten together: by the clock, and CPU time of all threads;
           on a GPU also "device_ns": between two events of the device, behind work that is not timed
    tune:  {"write": {"y": "/tmp/y"}}
    peer:  {"written": true}

An argument is a slice, {"name", "type", "access", "len", "file"}, whose file holds its values as they are in memory, or a scalar,
{"name", "value"}. A peer makes of them a function without arguments that fills the outputs.
"""

import json
import os
import pathlib
import sys
import time


def cache():
    """The folder for what a peer keeps for its next process: $KILN_PEER_CACHE, or target/peers."""
    root = pathlib.Path(__file__).resolve().parents[3]
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    folder = pathlib.Path(os.environ.get("KILN_PEER_CACHE", target / "peers"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# Calls before the first event: the device is busy with them while the host queues what is timed.
FILLERS = 8


def timed(call, calls, sync, event):
    """What so many calls take, all together."""
    sync()
    start, cpu = time.perf_counter_ns(), time.process_time_ns()
    if event:
        for _ in range(FILLERS):
            call()
        first, last = event(), event()
        first.record()
    for _ in range(calls):
        call()
    if event:
        last.record()
    sync()
    taken = {"ns": time.perf_counter_ns() - start, "cpu_ns": time.process_time_ns() - cpu}
    if event:
        taken["device_ns"] = round(first.elapsed_time(last) * 1e6)
    return taken


class Unsupported(Exception):
    """The peer has no such kernel, type or size."""


def serve(name, make, sync=lambda: None, event=None):
    """Answers until standard input ends. `make(kernel, problem, args)` gives a description, how many threads it uses, a function
    to time, and a function from an output's name to its bytes. On a GPU `sync` waits for it, and `event` makes an event with
    `record()` and `elapsed_time(later)` in milliseconds."""
    # Libraries print what they like: only answers go to standard output.
    answers, sys.stdout = sys.stdout, sys.stderr

    def say(answer):
        print(json.dumps(answer), file=answers, flush=True)

    say({"peer": name})
    call = read = None
    for line in sys.stdin:
        [(request, value)] = json.loads(line).items()
        if request == "open":
            try:
                text, threads, call, read = make(value["kernel"], value["problem"], value["args"])
                call()
                sync()
                say({"opened": text, "threads": threads})
            except Unsupported as why:
                say({"unsupported": str(why)})
        elif request == "time":
            say(timed(call, value, sync, event))
        elif request == "write":
            for output, path in value.items():
                with open(path, "wb") as file:
                    file.write(read(output))
            say({"written": True})
        else:
            raise SystemExit(f"unknown request `{request}`")
