#!/usr/bin/env bash
# The CUB that NVRTC brings with it has none of the function objects that reductions have used for years.
#
# Versions:  nvidia-cuda-nvrtc 13.5.37 from PyPI, with CCCL 3 among its bundled headers. No GPU is needed.
# Guess:     `BlockReduce(..).Reduce(value, cub::Max())` compiles, as it did with the CUB of CUDA 11 and 12: kernels
#            of many projects contain it.
# Seen:      namespace "cub" has no member "Max", and neither Min, Sum nor Equality. `cuda::maximum<>()` of
#            <cuda/functional> compiles in its place. Code that must compile with old and new versions needs both.
#
# Usage: findings/nvrtc_cub_operators.sh    (installs about 200 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target wheels \
    nvidia-cuda-nvrtc==13.5.37
cat >compile.py <<'PY'
import ctypes, glob, sys

nvrtc = ctypes.CDLL(glob.glob("wheels/**/libnvrtc.so.13", recursive=True)[0])
source = f"""
#include <cub/block/block_reduce.cuh>
#include <cuda/functional>
__global__ void reduce(int* x) {{
    using Reduce = cub::BlockReduce<int, 64>;
    __shared__ typename Reduce::TempStorage storage;
    int result = Reduce(storage).Reduce(x[threadIdx.x], {sys.argv[1]}());
    if (threadIdx.x == 0) x[0] = result;
}}
"""
program = ctypes.c_void_p()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"reduce.cu", 0, None, None)
options = [b"--gpu-architecture=compute_86", b"--use-bundled-headers=headers"]
status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
size = ctypes.c_size_t()
nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetProgramLog(program, log)
lines = log.value.decode().splitlines()
print("compiles" if status == 0 else next(line.split(": ", 1)[1] for line in lines if "error" in line))
PY
expect() {
    seen=$(python3 compile.py "$1")
    echo "$1: $seen"
    [ "$seen" = "$2" ] || { echo "this has changed: it was $2"; exit 1; }
}
for name in Max Min Sum Equality; do
    expect "cub::$name" "error: namespace \"cub\" has no member \"$name\""
done
expect "cuda::maximum<>" "compiles"
