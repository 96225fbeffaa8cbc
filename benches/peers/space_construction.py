#!/usr/bin/env python3
"""Building search spaces: Kiln, Kernel Tuner and loops in C, on the same definitions.

    python3 benches/peers/space_construction.py [--runs N] [--no-kernel-tuner] [DEFINITION.json ...]

Definitions are those of $KILN_DATA/spacedefs, or of ../shared/data/spacedefs, unless some are named. Each program is
timed from outside as the CPU time of its process, less that of the same program on an empty task (a space with one
parameter of one value; for C a program that does nothing; for Kernel Tuner a space of one config). The figure is the
median of the differences of runs taken in turn. Kernel Tuner is installed from PyPI into target/kernel-tuner, C is compiled with `cc -O3`.
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
import ast, json, sys
from kernel_tuner.searchspace import Searchspace

class Plain(ast.NodeTransformer):
    # In texts, Kernel Tuner takes `max` and `min` for parameters and splits at comparisons: plain arithmetic is left.
    def visit_Call(self, node):
        self.generic_visit(node)
        x, y = map(ast.unparse, node.args)
        sign = "+" if node.func.id == "max" else "-"
        return ast.parse(f"(({x}) + ({y}) {sign} ((({x}) - ({y})) ** 2) ** 0.5) / 2", mode="eval").body

def plain(text):
    return ast.unparse(Plain().visit(ast.parse(text))) if "max(" in text or "min(" in text else text

d = json.load(open(sys.argv[1]))
space = Searchspace({p["name"]: p["values"] for p in d["params"]}, list(map(plain, d["constraints"])), 1024)
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


def run(command):
    """CPU time of a process in ms, its peak memory in KiB, and what it printed."""
    read, write = os.pipe()
    pid = os.posix_spawnp(
        command[0],
        [str(word) for word in command],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, write, 1),
            (os.POSIX_SPAWN_CLOSE, read),
            (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
        ],
    )
    os.close(write)
    with os.fdopen(read) as out:
        text = out.read()
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{' '.join(map(str, command))} failed")
    return (usage.ru_utime + usage.ru_stime) * 1e3, usage.ru_maxrss, text


def over_empty(commands, empties, runs):
    """For each command, CPU time and memory beyond those of its empty run, and what it printed.

    Commands that take little are run more often, as their difference from the empty run drowns in its spread otherwise.
    """
    differences, texts = [[] for _ in commands], [""] * len(commands)
    for turn in range(3 * runs):
        for i, (command, empty) in enumerate(zip(commands, empties)):
            if turn >= runs and differences[i][0][0] > 20:
                continue
            nothing, full = run(empty), run(command)
            differences[i].append((full[0] - nothing[0], full[1] - nothing[1]))
            texts[i] = full[2]
    median = lambda which, i: statistics.median(each[which] for each in differences[i])
    return [(max(median(0, i), 0.001), median(1, i), texts[i]) for i in range(len(commands))]


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
        empties = [kiln(files["empty"]), [folder / "empty"]] + ([peer(files["empty"])] if python else [])
        print(f"{'space':26}{'valid':>9}{'kiln ms':>9}{'C ms':>9}{'KT ms':>10}{'kiln/C':>8}{'KT/kiln':>9}{'bytes':>9}")
        sums = [0.0, 0.0]
        for path in definitions(arguments.definitions):
            definition = json.loads(path.read_text())
            source = folder / f"{definition['name']}.c"
            source.write_text(program(definition))
            compile_c(source)
            commands = [kiln(path), [source.with_suffix("")]] + ([peer(path)] if python else [])
            figures = over_empty(commands, empties, arguments.runs)
            texts = [figure[2] for figure in figures]
            ours, c, theirs = [figure[0] for figure in figures] + [0.0] * (3 - len(figures))
            found = json.loads(texts[0])
            if found["valid"] != definition["valid"] or found["index_sum"] != definition["index_sum"]:
                missed.append(f"{definition['name']}: {found['valid']} configs, index sum {found['index_sum']}")
            if int(texts[1]) != definition["valid"]:
                missed.append(f"{definition['name']}: C found {texts[1]}")
            if python and int(texts[2]) != definition["valid"]:
                missed.append(f"{definition['name']}: Kernel Tuner found {texts[2]}")
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
            command = kiln(files[extra["name"]])
            [(spent, memory, text)] = over_empty([command], empties[:1], arguments.runs)
            print(f"{extra['name']}: {json.loads(text)['valid']} valid in {spent:.2f} ms, {memory / 1024:.1f} MiB more than an empty run")
            if spent > 20:
                missed.append(f"{extra['name']}: {spent:.1f} ms, more than 20")
            if memory > 5_000_000 / 1024:
                missed.append(f"{extra['name']}: {memory / 1024:.1f} MiB, more than 5 MB")
    for line in missed:
        print(f"missed: {line}")
    sys.exit(bool(missed))


def compile_c(source):
    subprocess.run(["cc", "-O3", "-o", source.with_suffix(""), source], check=True)


if __name__ == "__main__":
    main()
