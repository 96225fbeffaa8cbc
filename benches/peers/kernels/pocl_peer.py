#!/usr/bin/env python3
"""OpenCL on the cpu as a peer of the cpu device: pocl.cl, compiled and run by PoCL on all cores. Each kernel and problem is tuned
first: every combination of its tile sizes below, in a random order, for at most half a minute. The fastest is kept for the fresh
processes that time it."""

import hashlib
import itertools
import json
import pathlib
import random
import time

import numpy as np
import pyopencl as cl

import protocol
from protocol import Unsupported

SOURCE = pathlib.Path(__file__).with_name("pocl.cl").read_text()
TUNING_SECONDS = 30



def contexts():
    """One for each processor on which a program builds. The wheel's PoCL 3.0 knows no processor that is newer than its LLVM 14; that of
    a distribution, which OCL_ICD_VENDORS=/etc/OpenCL/vendors adds, compiles for the nearest one that it knows."""
    for platform in cl.get_platforms():
        for device in platform.get_devices():
            context = cl.Context([device])
            try:
                cl.Program(context, "kernel void f() {}").build()
            except cl.Error:
                continue
            yield context


context = next(contexts(), None)
if context is None:
    sys.exit("PoCL builds for no processor here: install that of the distribution (Debian: pocl-opencl-icd), and set OCL_ICD_VENDORS=/etc/OpenCL/vendors")
device = context.devices[0]
queue = cl.CommandQueue(context)

ROWS_OF_BLOCKS = {"BLOCK": [1, 32, 64, 128, 256, 512, 1024], "VECTOR": [1, 4, 8, 16]}
TILES = {"BLOCK_M": [1, 4, 8, 16, 32], "BLOCK_N": [1, 8, 16, 32, 64], "ROWS": [1, 2, 4, 8], "COLS": [1, 2, 4, 8, 16, 32, 64]}
SPACES = {
    "reduce": ROWS_OF_BLOCKS,
    "softmax": ROWS_OF_BLOCKS,
    "layer_norm": ROWS_OF_BLOCKS,
    "transpose": {"TILE": [8, 16, 32, 64], "THREAD_ROWS": [1, 2, 4, 8, 16, 32], "STAGED": [0, 1], "PADDING": [0, 1]},
    "gemm": {**TILES, "TILE_K": [8, 16, 32, 64], "STAGED": [0, 1]},
    "conv2d": {**TILES, "STAGED": [0, 1]},
}


def configs(kernel, problem):
    """All of the space that the device and the problem allow, the first one always the plainest."""
    names = list(SPACES[kernel])
    found = []
    for values in itertools.product(*SPACES[kernel].values()):
        config = dict(zip(names, values))
        threads = config.get("BLOCK") or config.get("TILE", 1) * config.get("THREAD_ROWS", 1)
        threads = config["BLOCK_M"] * config["BLOCK_N"] if "BLOCK_M" in config else threads
        outputs = config.get("ROWS", 1) * config.get("COLS", 1)
        pointless = (not config.get("STAGED", 1)) and (config.get("PADDING", 0) or config.get("TILE_K", 8) != 8)
        ragged = "VECTOR" in config and problem["cols"] % config["VECTOR"]
        if threads <= 1024 and outputs <= 256 and not pointless and not ragged:
            found.append(config)
    first, *rest = found
    random.Random(1).shuffle(rest)
    return [first, *rest]


def groups(kernel, problem, config):
    """Threads of the grid and of a block."""
    if "BLOCK" in config:
        return (problem["rows"] * config["BLOCK"], 1), (config["BLOCK"], 1)
    if kernel == "transpose":
        block, tile = (config["TILE"], config["THREAD_ROWS"]), (config["TILE"], config["TILE"])
        size = (problem["cols"], problem["rows"])
    else:
        block = (config["BLOCK_N"], config["BLOCK_M"])
        tile = (block[0] * config["COLS"], block[1] * config["ROWS"])
        size = (problem["n"], problem["m"]) if kernel == "gemm" else (problem["width"], problem["height"])
    return tuple(-(-s // t) * b for s, t, b in zip(size, tile, block)), block


def launch_of(kernel, problem, config, passed):
    """A function that launches the kernel and does not wait."""
    macros = {"VECTOR": 1, "BLOCK": 1, "TILE": 8, "THREAD_ROWS": 1, "PADDING": 0, "STAGED": 0, "TILE_K": 8}
    macros |= {name: 1 for name in TILES} | config
    options = [f"-D{name}={value}" for name, value in macros.items()] + ["-cl-fast-relaxed-math"]
    built = cl.Kernel(cl.Program(context, SOURCE).build(options), kernel)
    built.set_args(*passed)
    size, block = groups(kernel, problem, config)
    return lambda: cl.enqueue_nd_range_kernel(queue, built, size, block)


def seconds(launch):
    """The shortest of a few launches."""
    times = []
    for _ in range(5):
        queue.finish()
        start = time.perf_counter()
        launch()
        queue.finish()
        times.append(time.perf_counter() - start)
        if times[0] > 1:
            break
    return min(times)


def fastest(kernel, problem, passed):
    """The fastest config, from an earlier process or searched for now."""
    text = json.dumps([SOURCE, SPACES[kernel], kernel, problem, device.name, device.version], sort_keys=True)
    kept = protocol.cache() / f"pocl-{kernel}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    best, error, until = (float("inf"), None), None, time.monotonic() + TUNING_SECONDS
    for config in configs(kernel, problem):
        if time.monotonic() > until:
            break
        try:
            best = min(best, (seconds(launch_of(kernel, problem, config, passed)), config), key=lambda found: found[0])
        except cl.Error as failed:
            error = failed
    if best[1] is None:
        raise Unsupported(f"PoCL ran no config: {error}")
    kept.write_text(json.dumps(best[1]))
    return best[1]


def make(kernel, problem, args):
    if kernel not in SPACES:
        raise Unsupported(f"no OpenCL version of {kernel} here")
    passed, buffers, flags = [], {}, cl.mem_flags
    for arg in args:
        if "value" in arg:
            value = arg["value"]
            passed.append(np.int32(value) if isinstance(value, int) else np.float32(value))
        elif arg["type"] != "f32":
            raise Unsupported(f"{arg['name']} is {arg['type']}")
        else:
            data = np.fromfile(arg["file"], dtype=np.float32)
            buffers[arg["name"]] = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=data), data
            passed.append(buffers[arg["name"]][0])
    if "BLOCK" in SPACES[kernel]:
        passed = passed[1:]
    config = fastest(kernel, problem, passed)
    launch = launch_of(kernel, problem, config, passed)

    def read(name):
        buffer, like = buffers[name]
        values = np.empty_like(like)
        cl.enqueue_copy(queue, values, buffer)
        return values.tobytes()

    text = " ".join(f"{name}={value}" for name, value in config.items())
    return text, device.max_compute_units, launch, read


if __name__ == "__main__":
    protocol.serve(f"PoCL, {device.platform.version.split('PoCL ')[-1].split()[0]}", make, sync=queue.finish)
