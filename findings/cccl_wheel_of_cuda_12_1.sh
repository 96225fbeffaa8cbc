#!/usr/bin/env bash
# The CCCL wheels of the oldest CUDA 12 versions do not work with the NVRTC of the same version.
#
# Versions:  nvidia-cuda-cccl-cu12 12.1.109, 12.4.127.post1, 12.6.77 and 12.9.27; nvidia-cuda-nvrtc-cu12 and
#            nvidia-cuda-runtime-cu12 12.1.105 and 12.4.127, from PyPI. No GPU.
# Guess:     the wheel with the version of NVRTC has the headers that NVRTC of this version compiles: cub/, thrust/,
#            cuda/std/ and nv/target.
# Seen:      the wheel of 12.1 has cub/ and thrust/, but neither cuda/std/ nor nv/target, and its cub/ includes <utility>,
#            which NVRTC does not have. That of 12.4 is whole, but its cub/ includes <cstdio> and <iostream>. NVRTC 12.1
#            and 12.4 compile the CUB of 12.6 and 12.9.
#
# Usage: findings/cccl_wheel_of_cuda_12_1.sh    (installs about 400 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
install=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target)
for version in 12.1.105 12.4.127; do
    "${install[@]}" "$version" "nvidia-cuda-nvrtc-cu12==$version" "nvidia-cuda-runtime-cu12==$version"
done
for version in 12.1.109 12.4.127.post1 12.6.77 12.9.27; do
    "${install[@]}" "cccl-$version" "nvidia-cuda-cccl-cu12==$version"
done
cat >compile.py <<'PY'
import ctypes, glob, re, sys

version, cccl = sys.argv[1:]
nvrtc = ctypes.CDLL(glob.glob(f"{version}/**/libnvrtc.so.12", recursive=True)[0])
source = b"""#include <cub/block/block_reduce.cuh>
extern "C" __global__ void k(float* y) {
    __shared__ typename cub::BlockReduce<float, 128>::TempStorage storage;
    y[blockIdx.x] = cub::BlockReduce<float, 128>(storage).Sum(y[threadIdx.x]);
}"""
folders = [f"{version}/nvidia/cuda_runtime/include", f"{cccl}/nvidia/cuda_cccl/include"]
options = ["--gpu-architecture=sm_86", "--std=c++17", *(f"-I{folder}" for folder in folders)]
program = ctypes.c_void_p()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None)
code = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*(o.encode() for o in options)))
size = ctypes.c_size_t()
nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetProgramLog(program, log)
missing = re.search(r'cannot open source file "([^"]*)"', log.value.decode())
print("compiles" if code == 0 else f"lacks {missing.group(1)}" if missing else "another error")
PY
expect() {
    seen=$(LD_LIBRARY_PATH="$2/nvidia/cuda_nvrtc/lib" python3 compile.py "$2" "cccl-$3")
    echo "NVRTC $2 with CCCL of $3: $seen"
    [ "$seen" = "$1" ] || { echo "this has changed: it was $1"; exit 1; }
}
has() { [ -e "cccl-$1/nvidia/cuda_cccl/include/$2" ] && echo "has $2" || echo "lacks $2"; }
for name in cub/cub.cuh:has thrust/tuple.h:has cuda/std/type_traits:lacks nv/target:lacks; do
    seen=$(has 12.1.109 "${name%%:*}")
    echo "CCCL of 12.1.109: $seen"
    [ "$seen" = "${name#*:} ${name%%:*}" ] || { echo "this has changed"; exit 1; }
done
expect 'lacks utility' 12.1.105 12.1.109
expect 'lacks cstdio' 12.4.127 12.4.127.post1
for nvrtc in 12.1.105 12.4.127; do
    expect compiles "$nvrtc" 12.6.77
    expect compiles "$nvrtc" 12.9.27
done
