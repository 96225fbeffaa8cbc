#!/usr/bin/env python3
"""The library's kernels beside what people use today, in the same session.

    python3 benches/peers/kernels/kernels.py [--device cpu] [--tune 30m] [--budget 30m] [-k KERNEL ...] [--out FOLDER]

On the cpu: NumPy and PoCL (installed from PyPI into target/peers), plain loops in C, and PyTorch; on a CUDA device: PyTorch and cuBLAS. PyTorch is the one of
$KILN_PYTORCH, a Python (python3); cuBLAS is called by benches/peers/cublas, built by cargo or named by $KILN_CUBLAS_PEER. What is not
there is skipped, with the reason. Kiln launches what a build of now would launch: the
tuned row where there is one, else the baseline; `--tune` tunes first. `tune bench --peer` does the measuring: outputs are compared
first, then samples of both alternate in fresh processes. Written: the raw report as JSON, and a plot as SVG.

Where there is no Rust, `--program` names a `tune` that was built elsewhere, and cargo-metadata.json in the root is what cargo said
there (docs/targets.md).
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import subprocess
import sys

from plot import plot

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def with_packages(*packages):
    """A Python that has these packages."""
    folder = TARGET / "peers"
    python = folder / "bin" / "python3"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    print(f"installing {' and '.join(packages)} into {folder}, if they are not there", file=sys.stderr)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
    return python


def cpu_peer(script, *packages):
    """The command of a peer in Python, if what it needs can be installed."""
    try:
        return [f"'{with_packages(*packages)}' '{HERE / script}'"]
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: {script}: {' and '.join(packages)} cannot be installed: {error}", file=sys.stderr)
        return []


def torch_peer(device):
    """PyTorch's command for `cpu` or `cuda`, where there is a Python that has it, and finds a GPU if it must."""
    needed = "torch.cuda.is_available()" if device == "cuda" else "True"
    python = os.environ.get("KILN_PYTORCH", "python3")
    try:
        probe = subprocess.run([python, "-c", f"import torch; assert {needed}"], capture_output=True, text=True)
        error = "" if probe.returncode == 0 else (probe.stderr.strip() or "no reason").splitlines()[-1]
    except OSError as failed:
        error = str(failed)
    if not error:
        return [f"'{python}' '{HERE / 'torch_peer.py'}' {device}"]
    print(f"skipped: PyTorch: {error} (KILN_PYTORCH names another Python)", file=sys.stderr)
    return []


def cublas_peer():
    """cuBLAS's command, where it can be built and finds a GPU."""
    program = os.environ.get("KILN_CUBLAS_PEER")
    try:
        if not program:
            folder = TARGET / "cublas-peer"
            build = ["cargo", "build", "--release", "--quiet", "--manifest-path", str(HERE.parent / "cublas" / "Cargo.toml")]
            subprocess.run([*build, "--target-dir", str(folder)], check=True)
            program = str(folder / "release" / "kiln-cublas-peer")
        probe = subprocess.run([program], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        error = "" if probe.returncode == 0 else (probe.stderr.strip() or "no reason").splitlines()[0]
    except (OSError, subprocess.CalledProcessError) as failed:
        error = str(failed)
    if not error:
        return [f"'{program}'"]
    print(f"skipped: cuBLAS: {error}", file=sys.stderr)
    return []


def peers(device):
    """The commands of the peers of a device; what is missing is said."""
    if device == "cpu":
        yield from cpu_peer("numpy_peer.py", "numpy")
        yield from cpu_peer("pocl_peer.py", "numpy", "pyopencl", "pocl-binary-distribution")
        yield from torch_peer("cpu")
        yield f"'{sys.executable}' '{HERE / 'c_peer.py'}'"
    elif device.startswith("cuda"):
        yield from torch_peer("cuda")
        yield from cublas_peer()


def tune(program, *arguments):
    """What it prints. Exit code 1 means that a kernel failed: the report says which, and holds the others."""
    command = [*program, *arguments]
    print("$", " ".join(command), file=sys.stderr)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment())
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"`{' '.join(command)}` ended with code {done.returncode}")
    return done.stdout


def environment():
    """Rows of this machine's cpu are not part of the repository: builds, and `tune bench`, use them where they are named."""
    local = TARGET / "kiln" / "tuned" / "kiln-kernels"
    return {**os.environ, "KILN_TUNED": str(local)} if local.is_dir() else None


def rows(report):
    """Kernel, problem, peer, and its time over the kernel's with an interval, of what was measured."""
    for device in report:
        for kernel in device["kernels"]:
            for peer in kernel["outcome"].get("peers", []):
                if peer["state"] == "measured":
                    yield kernel, peer


def summary(report):
    """A line a peer: the geometric mean, and how often the kernel is faster."""
    by_peer = {}
    for _, peer in rows(report):
        by_peer.setdefault(peer["peer"], []).append(peer["speedup"])
    for peer, speedups in by_peer.items():
        mean = math.exp(sum(map(math.log, speedups)) / len(speedups))
        faster = sum(speedup > 1 for speedup in speedups)
        print(f"{peer}: {mean:.2f}x as fast in the geometric mean of {len(speedups)}, faster on {faster}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--tune", metavar="TIME", help="tune for so long first")
    parser.add_argument("--budget", metavar="TIME", default="30m", help="time for the comparison")
    parser.add_argument("-k", "--kernel", action="append", default=[])
    parser.add_argument("--program", type=pathlib.Path, help="a built `tune`, where there is no cargo")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "benches" / "results")
    asked = parser.parse_args()
    chosen = ["--package", "kiln-kernels"] + [word for kernel in asked.kernel for word in ("-k", kernel)]
    program = ["cargo", "tune"]
    if asked.program:
        program = [str(asked.program.resolve())]
        chosen += ["--cargo-metadata", str(ROOT / "cargo-metadata.json")]
    commands = list(peers(asked.device))
    if not commands:
        raise SystemExit(f"nothing to compare with on {asked.device}")
    if asked.tune:
        tune(program, "run", *chosen, "--device", asked.device, "--budget", asked.tune)
    beside = [word for command in commands for word in ("--peer", command)]
    report = json.loads(tune(program, "bench", *chosen, "--device", asked.device, "--budget", asked.budget, "--json", *beside))
    asked.out.mkdir(parents=True, exist_ok=True)
    stem = f"peers-{asked.device.replace(':', '')}-{datetime.date.today()}"
    (asked.out / f"{stem}.json").write_text(json.dumps(report, indent=1) + "\n")
    found = [
        (f"{kernel['kernel']} {kernel['problem']}", peer["peer"], peer["speedup"], peer["low"], peer["high"])
        for kernel, peer in rows(report)
    ]
    (asked.out / f"{stem}.svg").write_text(plot(found))
    summary(report)
    print(f"{asked.out / stem}.json, .svg")


if __name__ == "__main__":
    main()
