#!/usr/bin/env python3
"""Building search spaces: Kiln, Kernel Tuner and loops in C, on the same definitions.

    python3 benches/peers/space_construction.py [--runs N] [--no-kernel-tuner] [DEFINITION.json ...]

Definitions are those of $KILN_DATA/spacedefs, or of ../shared/data/spacedefs, unless some are named. Each program is
timed from outside as the CPU time of its process, less that of the same program on an empty task (a space with one
parameter of one value; for C a program that does nothing; for Kernel Tuner a space of one config). The figure is the median of the
runs, taken in turn. Kernel Tuner is installed from PyPI into target/kernel-tuner, C is compiled with `cc -O3`.
Exit status 1: a count or a bar is missed.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from c_loops import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
KERNEL_TUNER = "kernel-tuner==1.5.0"
LARGE = 10_000

EMPTY = {"name": "empty", "params": [{"name": "A", "values": [1]}], "constraints": []}
SEPARABLE = {
    "name": "separable_12x100",
    "params": [{"name": f"x{i}", "values": list(range(100))} for i in range(12)],
    "constraints": [f"x{i} <= x{i + 1}" for i in range(0, 12, 2)],
}
CHAIN = {**SEPARABLE, "name": "chain_12x100", "constraints": [f"x{i} <= x{i + 1}" for i in range(11)]}

PEER = """
import json, sys
from kernel_tuner.searchspace import Searchspace
d = json.load(open(sys.argv[1]))
space = Searchspace({p["name"]: p["values"] for p in d["params"]}, d["constraints"], 1024)
print(space.size)
"""


def definitions(named):
    if named:
        return [pathlib.Path(name) for name in named]
    for data in (os.environ.get("KILN_DATA"), ROOT / "../shared/data"):
        if data and (pathlib.Path(data) / "spacedefs").is_dir():
            return sorted((pathlib.Path(data) / "spacedefs").glob("*.json"))
    sys.exit("no definitions\nhelp: set KILN_DATA to the folder that has `spacedefs`")


def kernel_tuner():
    python = TARGET / "kernel-tuner/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", TARGET / "kernel-tuner"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", KERNEL_TUNER], check=True)
    return python


def cpu_ms(command):
    """CPU time of a process and what it printed."""
    read, write = os.pipe()
    pid = os.posix_spawnp(
        command[0],
        [str(word) for word in command],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, write, 1), (os.POSIX_SPAWN_CLOSE, read)],
    )
    os.close(write)
    with os.fdopen(read) as out:
        text = out.read()
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{' '.join(map(str, command))} failed")
    return (usage.ru_utime + usage.ru_stime) * 1e3, text


def medians(commands, runs):
    """Median CPU time of each command, run in turn, and the last text of each."""
    times = [[] for _ in commands]
    texts = [""] * len(commands)
    for _ in range(runs):
        for i, command in enumerate(commands):
            spent, texts[i] = cpu_ms(command)
            times[i].append(spent)
    return [statistics.median(times) for times in times], texts


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("definitions", nargs="*")
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--no-kernel-tuner", action="store_true")
    arguments = arguments.parse_args()
    tune = TARGET / "release/tune"
    if not tune.exists():
        sys.exit("no target/release/tune\nhelp: cargo build --release -p kiln-tuner")
    python = None if arguments.no_kernel_tuner else kernel_tuner()
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files = {}
        for extra in (EMPTY, SEPARABLE, CHAIN):
            files[extra["name"]] = folder / f"{extra['name']}.json"
            files[extra["name"]].write_text(json.dumps(extra))
        (folder / "peer.py").write_text(PEER)
        (folder / "empty.c").write_text("int main(void) { return 0; }\n")
        compile_c(folder / "empty.c")
        kiln = lambda path: [tune, "space", "--json", "--definition", path]
        peer = lambda path: [python, folder / "peer.py", path]
        bare, _ = medians([kiln(files["empty"]), [folder / "empty"]], 25)
        bare.append(medians([peer(files["empty"])], arguments.runs)[0][0] if python else 0)
        print(f"less an empty run: kiln {bare[0]:.2f} ms, C {bare[1]:.2f} ms, Kernel Tuner {bare[2]:.0f} ms")
        print(f"{'space':26}{'valid':>9}{'kiln ms':>9}{'C ms':>9}{'KT ms':>10}{'kiln/C':>8}{'KT/kiln':>9}{'bytes':>9}")
        sums = [0.0, 0.0]
        for path in definitions(arguments.definitions):
            definition = json.loads(path.read_text())
            source = folder / f"{definition['name']}.c"
            source.write_text(program(definition))
            compile_c(source)
            commands = [kiln(path), [source.with_suffix("")]] + ([peer(path)] if python else [])
            times, texts = medians(commands, arguments.runs)
            ours, c, theirs = [max(t - b, 0.001) for t, b in zip(times + [0.0] * (3 - len(times)), bare)]
            found = json.loads(texts[0])
            if found["valid"] != definition["valid"] or found["index_sum"] != definition["index_sum"]:
                missed.append(f"{definition['name']}: {found['valid']} configs, index sum {found['index_sum']}")
            if int(texts[1]) != definition["valid"]:
                missed.append(f"{definition['name']}: C found {texts[1]}")
            if definition["valid"] >= LARGE:
                if ours > 4 * c:
                    missed.append(f"{definition['name']}: {ours / c:.1f} times C, more than 4")
                if python and theirs < 20 * ours:
                    missed.append(f"{definition['name']}: {theirs / ours:.1f} times faster than Kernel Tuner, not 20")
                if found["bytes"] > 24 * definition["valid"]:
                    missed.append(f"{definition['name']}: more than 24 bytes a config")
            sums[0] += ours
            sums[1] += theirs
            print(
                f"{definition['name']:26}{definition['valid']:>9}{ours:>9.3f}{c:>9.3f}{theirs:>10.1f}"
                f"{ours / c:>8.2f}{theirs / ours:>9.0f}{found['bytes']:>9}"
            )
        print(f"{'sum':35}{sums[0]:>9.3f}{'':9}{sums[1]:>10.1f}{'':8}{sums[1] / sums[0]:>9.0f}")
        if python and sums[1] < 60 * sums[0]:
            missed.append(f"all: {sums[1] / sums[0]:.1f} times faster than Kernel Tuner, not 60")
        for extra in (SEPARABLE, CHAIN):
            times, texts = medians([kiln(files[extra["name"]])], arguments.runs)
            spent = times[0] - bare[0]
            print(f"{extra['name']}: {json.loads(texts[0])['valid']} valid in {spent:.2f} ms")
            if spent > 20:
                missed.append(f"{extra['name']}: {spent:.1f} ms, more than 20")
    for line in missed:
        print(f"missed: {line}")
    sys.exit(bool(missed))


def compile_c(source):
    subprocess.run(["cc", "-O3", "-o", source.with_suffix(""), source], check=True)


if __name__ == "__main__":
    main()
