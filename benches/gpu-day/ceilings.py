#!/usr/bin/env python3
"""What PyTorch reaches on this GPU, by its events: a copy of memory, and products of matrices; times in nanoseconds."""

import json

import torch


def fastest_ns(call, launches=20, samples=10):
    for _ in range(launches):
        call()
    times = []
    for _ in range(samples):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(launches):
            call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e6 / launches)
    return round(min(times))


def main():
    bytes_ = 1 << 30
    x = torch.zeros(bytes_ // 4, device="cuda")
    y = torch.empty_like(x)
    copy_ns = fastest_ns(lambda: y.copy_(x))
    found = {"copy_ns": copy_ns, "copy_bytes_per_s": round(2 * bytes_ / copy_ns * 1e9)}
    n = 4096
    torch.backends.cuda.matmul.allow_tf32 = False
    for name, kind in [("f32", torch.float32), ("f16", torch.float16), ("bf16", torch.bfloat16)]:
        a, b = (torch.randn(n, n, device="cuda", dtype=kind) for _ in range(2))
        product_ns = fastest_ns(lambda: torch.mm(a, b))
        found[f"mm_{name}_ns"] = product_ns
        found[f"mm_{name}_flop_per_s"] = round(2 * n**3 / product_ns * 1e9)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
