#!/usr/bin/env python3
"""Plain loops in C as a peer of the cpu device: naive.c, built by `$CC` (cc, gcc, clang) with -O3 -march=native -ffast-math, one thread."""

import ctypes
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import protocol
from protocol import Unsupported

SOURCE = pathlib.Path(__file__).with_name("naive.c")
TYPES = {"f32": ctypes.c_float, "u32": ctypes.c_uint32}
KERNELS = set(
    "tensor_add tensor_mul broadcast_add gelu bias_gelu softmax layer_norm rms_norm reduce transpose gemm conv2d conv3x3"
    " modulation_index".split()
)


def library(compiler, version):
    """The loops, compiled once for all processes: the name says of what, by which compiler and for which processor."""
    flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
    native = subprocess.run([compiler, *flags[:2], "-###", "-E", "-"], stdin=subprocess.DEVNULL, capture_output=True, text=True).stderr
    made_of = [SOURCE.read_text(), compiler, version, native, *flags]
    name = f"loops-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:32]}.so"
    path = protocol.cache() / name
    if not path.exists():
        # Renamed when it is whole: another process may look for it now.
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            made = pathlib.Path(folder) / name
            subprocess.run([compiler, *flags, str(SOURCE), "-o", str(made), "-lm"], check=True)
            made.rename(path)
    return ctypes.CDLL(str(path))


def make_with(loops):
    def make(kernel, problem, args):
        if kernel not in KERNELS:
            raise Unsupported(f"no loops for {kernel} here")
        passed, arrays = [], {}
        for arg in args:
            if "value" in arg:
                value = arg["value"]
                passed.append(ctypes.c_long(value) if isinstance(value, int) else ctypes.c_double(value))
            elif arg["type"] not in TYPES:
                raise Unsupported(f"C has no {arg['type']}")
            else:
                data = pathlib.Path(arg["file"]).read_bytes()
                arrays[arg["name"]] = (TYPES[arg["type"]] * arg["len"]).from_buffer_copy(data)
                passed.append(arrays[arg["name"]])
        function = getattr(loops, kernel)
        return "loops", 1, lambda: function(*passed), lambda name: bytes(arrays[name])

    return make


if __name__ == "__main__":
    known = [os.environ.get("CC"), *filter(shutil.which, ["cc", "gcc", "clang"]), "cc"]
    compiler = next(filter(None, known))
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    protocol.serve(f"C, {version.splitlines()[0]}", make_with(library(compiler, version)))
