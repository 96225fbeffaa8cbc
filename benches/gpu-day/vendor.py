#!/usr/bin/env python3
"""PyTorch's functions on the problems of a GPU day, all in one process, which loads PyTorch and opens the GPU once. A JSON line a
problem: the median time of a call, between events of the GPU, behind work that is not timed, on data sets in rotation.

    vendor.py cuda|cpu KERNEL PROBLEM [KERNEL PROBLEM]..
"""

import json
import os
import statistics
import sys

WORDS = sys.argv[2:]
# The module reads the device from the command line.
del sys.argv[2:]

import torch
import torch_peer

# The data of all sets together. With it, a call does not find its input in a cache.
ROTATED_BYTES = 256 << 20
SAMPLES = 15
SAMPLE_NS = 2_000_000


def numbers(problem):
    """The sizes and types of a problem, from the text that `tune list` prints."""
    pairs = (pair.split("=") for pair in problem.split(","))
    return {name: value if name == "T" else int(value) for name, value in pairs}


# The lengths of the slices of each kernel, in its problem's sizes; outputs are made empty.
SLICES = {
    "gemm": lambda p: {"a": p["m"] * p["k"], "b": p["k"] * p["n"], "c": p["m"] * p["n"]},
    "flash_attention": lambda p: dict.fromkeys(["q", "k", "v", "out"], p["heads"] * p["seq"] * p["dim"]),
    "softmax": lambda p: dict.fromkeys("xy", p["rows"] * p["cols"]),
    "layer_norm": lambda p: {**dict.fromkeys("xy", p["rows"] * p["cols"]), "weight": p["cols"], "bias": p["cols"]},
    "rms_norm": lambda p: {**dict.fromkeys("xy", p["rows"] * p["cols"]), "weight": p["cols"]},
    "transpose": lambda p: dict.fromkeys("xy", p["rows"] * p["cols"]),
    "reduce": lambda p: {"x": p["rows"] * p["cols"], "y": p["rows"]},
    "gelu": lambda p: dict.fromkeys("xy", p["n"]),
    "tensor_add": lambda p: dict.fromkeys("abc", p["n"]),
    "conv3x3": lambda p: {
        "x": p["images"] * p["height"] * p["width"] * p["channels"],
        "weight": 9 * p["channels"] * p["filters"],
        "y": p["images"] * p["height"] * p["width"] * p["filters"],
    },
}
SLICES["gemm_f16"] = SLICES["gemm"]
# The element type of kernels whose problems name none, if it is not f32.
FIXED = {"flash_attention": torch.float16}


def data(kernel, p, device):
    kind = torch_peer.TYPES[p["T"]] if "T" in p else FIXED.get(kernel, torch.float32)
    slices = SLICES[kernel](p).items()
    return {"epsilon": 1e-5} | {name: torch.randn(length, device=device).to(kind) for name, length in slices}


def sets(kernel, p, device):
    first = data(kernel, p, device)
    bytes_ = sum(tensor.nbytes for tensor in first.values() if torch.is_tensor(tensor))
    count = max(1, min(16, ROTATED_BYTES // bytes_ + 1)) if device == "cuda" else 1
    return [first, *(data(kernel, p, device) for _ in range(count - 1))]


def sample_ns(calls, count, device):
    """The time of `count` calls, which use the data sets in turn, in nanoseconds."""
    run = lambda number: [calls[i % len(calls)]() for i in range(number)]
    if device != "cuda":
        import time

        start = time.perf_counter_ns()
        run(count)
        return time.perf_counter_ns() - start
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    run(8)
    first.record()
    run(count)
    last.record()
    last.synchronize()
    return round(first.elapsed_time(last) * 1e6)


def timed(kernel, problem, device):
    p = numbers(problem)
    made = [torch_peer.KERNELS[kernel](p, found) for found in sets(kernel, p, device)]
    calls = [call for _, call in made]
    for call in calls:
        call()
    count = 1
    # The fastest of three: a single sample may be slow by chance.
    while min(sample_ns(calls, count, device) for _ in range(3)) < SAMPLE_NS and count < 1 << 16:
        count *= 2
    times = sorted(sample_ns(calls, count, device) / count for _ in range(SAMPLES))
    return {"call": made[0][0], "ns": round(statistics.median(times)), "fastest_ns": round(times[0]), "calls": count, "sets": len(calls)}


def main():
    device = sys.argv[1]
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    torch.set_grad_enabled(False)
    for kernel, problem in zip(WORDS[::2], WORDS[1::2]):
        line = {"kernel": kernel, "problem": problem, "torch": torch.__version__, "pid": os.getpid()}
        try:
            line |= timed(kernel, problem, device)
        except (KeyError, RuntimeError, AttributeError, torch_peer.Unsupported) as error:
            line["failed"] = f"{type(error).__name__}: {error}"
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
