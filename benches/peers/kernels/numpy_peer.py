#!/usr/bin/env python3
"""NumPy as a peer of the cpu device: the array expressions that its users write, with outputs allocated beforehand where a
function takes them. NumPy's matrix products use all threads of its BLAS, everything else one."""

import os

import numpy as np

import protocol
from protocol import Unsupported

TYPES = {"f32": np.float32, "f16": np.float16, "u32": np.uint32, "i32": np.int32, "u8": np.uint8, "f64": np.float64,
         "u64": np.uint64, "i64": np.int64, "u16": np.uint16, "i16": np.int16, "i8": np.int8}


def arrays(args):
    """Slices as arrays, scalars as numbers, by name."""
    found = {}
    for arg in args:
        if "value" in arg:
            found[arg["name"]] = arg["value"]
        elif arg["type"] not in TYPES:
            raise Unsupported(f"NumPy has no {arg['type']}")
        else:
            found[arg["name"]] = np.fromfile(arg["file"], dtype=TYPES[arg["type"]])
    return found


def tensor_add(p, a):
    return "np.add", lambda: np.add(a["a"], a["b"], out=a["c"])


def tensor_mul(p, a):
    return "np.multiply", lambda: np.multiply(a["a"], a["b"], out=a["c"])


def broadcast_add(p, a):
    x, c = (a[name].reshape(p["rows"], p["cols"]) for name in "ac")
    b = a["b"].reshape(p["b_rows"], p["b_cols"])
    return "np.add", lambda: np.add(x, b, out=c)


def tanh_gelu(x):
    one = x.dtype.type
    return one(0.5) * x * (one(1) + np.tanh(one(0.7978845608) * (x + one(0.044715) * x * x * x)))


def gelu(p, a):
    if p["form"] != 2:
        raise Unsupported("NumPy has no error function")
    return "0.5 * x * (1 + np.tanh(..))", lambda: np.copyto(a["y"], tanh_gelu(a["x"]))


def bias_gelu(p, a):
    if p["form"] != 2:
        raise Unsupported("NumPy has no error function")
    x, y = (a[name].reshape(p["rows"], p["cols"]) for name in "xy")
    return "gelu(x + bias)", lambda: np.copyto(y, tanh_gelu(x + a["bias"]))


def softmax(p, a):
    x, y = (a[name].reshape(p["rows"], p["cols"]) for name in "xy")

    def call():
        np.exp(x - x.max(axis=1, keepdims=True), out=y)
        np.divide(y, y.sum(axis=1, keepdims=True), out=y)

    return "np.exp, np.divide", call


def layer_norm(p, a):
    x, y = (a[name].reshape(p["rows"], p["cols"]) for name in "xy")

    def call():
        mean = x.mean(axis=1, keepdims=True)
        deviation = np.sqrt(x.var(axis=1, keepdims=True) + a["epsilon"]).astype(x.dtype)
        np.copyto(y, (x - mean) / deviation * a["weight"] + a["bias"])

    return "x.mean, x.var", call


def rms_norm(p, a):
    x, y = (a[name].reshape(p["rows"], p["cols"]) for name in "xy")

    def call():
        root = np.sqrt((x * x).mean(axis=1, keepdims=True) + a["epsilon"]).astype(x.dtype)
        np.copyto(y, x / root * a["weight"])

    return "(x * x).mean", call


def reduce(p, a):
    x = a["x"].reshape(p["rows"], p["cols"])
    if p["operation"] == 1:
        return "np.sum", lambda: np.sum(x, axis=1, out=a["y"])
    return "np.max", lambda: np.max(x, axis=1, out=a["y"])


def transpose(p, a):
    x, y = a["x"].reshape(p["rows"], p["cols"]), a["y"].reshape(p["cols"], p["rows"])
    return "np.copyto(y, x.T)", lambda: np.copyto(y, x.T)


def gemm(p, a):
    x, b = a["a"].reshape(p["m"], p["k"]), a["b"].reshape(p["k"], p["n"])
    c = a["c"].reshape(p["m"], p["n"])
    return "np.matmul (BLAS)", lambda: np.matmul(x, b, out=c)


def flash_attention(p, a):
    q, k, v, out = (a[name].reshape(p["heads"], p["seq"], p["dim"]) for name in ("q", "k", "v", "out"))
    mask = np.triu(np.full((p["seq"], p["seq"]), -np.inf, np.float32), 1) if p["causal"] == 2 else np.float32(0)

    def call():
        scores = q.astype(np.float32) @ k.astype(np.float32).transpose(0, 2, 1) / np.float32(p["dim"] ** 0.5) + mask
        weights = np.exp(scores - scores.max(axis=2, keepdims=True))
        np.copyto(out, weights @ v.astype(np.float32) / weights.sum(axis=2, keepdims=True))

    return "softmax(q @ k.T) @ v in f32", call


def conv2d(p, a):
    height, width = p["height"], p["width"]
    x, y = a["x"].reshape(height + 14, width + 14), a["y"].reshape(height, width)

    def call():
        y[:] = 0
        for i in range(15):
            for j in range(15):
                y[:] += a["filter"][15 * i + j] * x[i : i + height, j : j + width]

    return "225 shifted products", call


def conv3x3(p, a):
    n, h, w, c, f = (p[name] for name in ("images", "height", "width", "channels", "filters"))
    x = a["x"].reshape(n, h, w, c).astype(np.float32)
    weight = a["weight"].reshape(3, 3, c, f).astype(np.float32)
    padded = np.zeros((n, h + 2, w + 2, c), np.float32)
    padded[:, 1:-1, 1:-1] = x
    y = a["y"].reshape(n, h, w, f)

    def call():
        total = np.zeros((n, h, w, f), np.float32)
        for i in range(3):
            for j in range(3):
                total += padded[:, i : i + h, j : j + w] @ weight[i, j]
        np.copyto(y, total)

    return "9 shifted np.matmul", call


KERNELS = {
    f.__name__: f
    for f in (tensor_add, tensor_mul, broadcast_add, gelu, bias_gelu, softmax, layer_norm, rms_norm, reduce, transpose, gemm)
    + (flash_attention, conv2d, conv3x3)
}


def make(kernel, problem, args):
    if kernel not in KERNELS:
        raise Unsupported(f"no NumPy version of {kernel} here")
    found = arrays(args)
    text, call = KERNELS[kernel](problem, found)
    threads = os.cpu_count() if "matmul" in text or "@" in text else 1
    return text, threads, call, lambda name: found[name].tobytes()


if __name__ == "__main__":
    protocol.serve(f"NumPy {np.__version__}", make)
