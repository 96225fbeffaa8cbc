#!/usr/bin/env python3
"""PyTorch as a peer: its own functions, on the device that is named, `torch_peer.py cpu` or `torch_peer.py cuda`. On a CUDA device they
call cuBLAS, cuDNN and its best attention, and TF32 is off; on the cpu they run on as many threads as PyTorch takes."""

import ctypes
import sys

import torch
import torch.nn.functional as F

import protocol
from protocol import Unsupported

# Never a choice of PyTorch's: a machine with a GPU compares its cpu with the cpu.
GPU = sys.argv[1:] == ["cuda"]
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def tensors(args):
    """Slices as tensors on the device, scalars as numbers, by name."""
    found = {}
    for arg in args:
        if "value" in arg:
            found[arg["name"]] = arg["value"]
        elif arg["type"] not in TYPES:
            raise Unsupported(f"{arg['name']} is {arg['type']}")
        else:
            host = torch.from_file(arg["file"], size=arg["len"], dtype=TYPES[arg["type"]])
            found[arg["name"]] = host.cuda() if GPU else host.clone()
    return found


def matrix(p, a, *names):
    return [a[name].view(p["rows"], p["cols"]) for name in names]


def tensor_add(p, a):
    return "torch.add", lambda: torch.add(a["a"], a["b"], out=a["c"])


def tensor_mul(p, a):
    return "torch.mul", lambda: torch.mul(a["a"], a["b"], out=a["c"])


def broadcast_add(p, a):
    x, c = matrix(p, a, "a", "c")
    return "torch.add", lambda: torch.add(x, a["b"].view(p["b_rows"], p["b_cols"]), out=c)


def form(p):
    return "none" if p["form"] == 1 else "tanh"


def gelu(p, a):
    return "F.gelu", returns(a, "y", lambda: F.gelu(a["x"], approximate=form(p)))


def bias_gelu(p, a):
    (x,) = matrix(p, a, "x")
    return "F.gelu(x + bias)", returns(a, "y", lambda: F.gelu(x + a["bias"], approximate=form(p)))


def softmax(p, a):
    x, y = matrix(p, a, "x", "y")
    return "torch.softmax", lambda: torch.softmax(x, 1, out=y)


def layer_norm(p, a):
    (x,) = matrix(p, a, "x")
    weight, bias = a["weight"], a["bias"]
    return "F.layer_norm", returns(a, "y", lambda: F.layer_norm(x, (p["cols"],), weight, bias, a["epsilon"]))


def rms_norm(p, a):
    (x,) = matrix(p, a, "x")
    return "F.rms_norm", returns(a, "y", lambda: F.rms_norm(x, (p["cols"],), a["weight"], a["epsilon"]))


def reduce(p, a):
    (x,) = matrix(p, a, "x")
    if p["operation"] == 1:
        return "torch.sum", lambda: torch.sum(x, 1, out=a["y"])
    return "torch.amax", lambda: torch.amax(x, 1, out=a["y"])


def transpose(p, a):
    (x,) = matrix(p, a, "x")
    return "y.copy_(x.T)", lambda: a["y"].view(p["cols"], p["rows"]).copy_(x.T)


def gemm(p, a):
    x, b, c = a["a"].view(p["m"], p["k"]), a["b"].view(p["k"], p["n"]), a["c"].view(p["m"], p["n"])
    return "torch.mm (cuBLAS)" if GPU else "torch.mm", lambda: torch.mm(x, b, out=c)


def flash_attention(p, a):
    q, k, v = (a[name].view(1, p["heads"], p["seq"], p["dim"]) for name in "qkv")
    causal = p["causal"] == 2
    return "F.scaled_dot_product_attention", returns(
        a, "out", lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    )


def conv2d(p, a):
    x, weight = a["x"].view(1, 1, p["height"] + 14, p["width"] + 14), a["filter"].view(1, 1, 15, 15)
    return "F.conv2d", returns(a, "y", lambda: F.conv2d(x, weight))


def conv3x3(p, a):
    n, h, w, c, f = (p[name] for name in ("images", "height", "width", "channels", "filters"))
    # Channels last in memory, as the kernel has them.
    x = a["x"].view(n, h, w, c).permute(0, 3, 1, 2)
    weight = a["weight"].view(3, 3, c, f).permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    call = lambda: F.conv2d(x, weight, padding=1)
    return "F.conv2d, channels last", returns(a, "y", call, lambda y: y.permute(0, 2, 3, 1))


def returns(a, name, call, order=lambda y: y):
    """A function that returns its output: kept, so that it can be read."""

    def keep():
        a[name] = call()

    a["order"] = order
    return keep


KERNELS = {
    f.__name__: f
    for f in (tensor_add, tensor_mul, broadcast_add, gelu, bias_gelu, softmax, layer_norm, rms_norm, reduce, transpose, gemm)
    + (flash_attention, conv2d, conv3x3)
}
KERNELS["gemm_f16"] = gemm


def works(call):
    """Whether this version has what the function calls, for these types."""
    try:
        call()
    except AttributeError as error:
        raise Unsupported(f"PyTorch {torch.__version__}: {error}") from None
    except RuntimeError as error:
        if "not implemented for" not in str(error):
            raise
        raise Unsupported(f"PyTorch {torch.__version__}: {error}") from None


def make(kernel, problem, args):
    if kernel not in KERNELS:
        raise Unsupported(f"no PyTorch version of {kernel} here")
    found = tensors(args)
    text, call = KERNELS[kernel](problem, found)
    works(call)

    def read(name):
        order = found.get("order", lambda y: y)
        host = order(found[name]).contiguous().cpu()
        return ctypes.string_at(host.data_ptr(), host.numel() * host.element_size())

    return text, 1 if GPU else torch.get_num_threads(), call, read


if __name__ == "__main__":
    if sys.argv[1:] not in (["cpu"], ["cuda"]):
        raise SystemExit("name a device: cpu or cuda")
    if GPU and not torch.cuda.is_available():
        raise SystemExit("PyTorch finds no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    # What is timed needs no gradients.
    torch.set_grad_enabled(False)
    where = torch.cuda.get_device_name() if GPU else "the cpu"
    name = f"PyTorch {torch.__version__} on {where}"
    if GPU:
        protocol.serve(name, make, torch.cuda.synchronize, lambda: torch.cuda.Event(enable_timing=True))
    else:
        protocol.serve(name, make)
