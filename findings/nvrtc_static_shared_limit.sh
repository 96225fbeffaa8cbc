#!/usr/bin/env bash
# How much static shared memory NVRTC accepts depends on its version and on a letter of the architecture's name.
#
# Versions:  nvidia-cuda-nvrtc 13.5.37, nvidia-cuda-nvrtc-cu12 12.9.86 and 12.6.85 from PyPI. No GPU.
# Guess:     CUDA's programming guide limits static shared memory to 48 KiB; more must be dynamic and asked for. So a
#            kernel with a static array of 64 KiB is refused for every architecture.
# Seen:      13.5 and 12.9 refuse it for sm_86 and sm_90. 12.6 accepts it for both. 13.5 accepts it for sm_90a, and
#            12.9 does not. So "it compiles" does not mean that it keeps to the guide.
#
# Usage: findings/nvrtc_static_shared_limit.sh    (installs about 700 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
install=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target)
"${install[@]}" 13.5.37 nvidia-cuda-nvrtc==13.5.37
"${install[@]}" 12.9.86 nvidia-cuda-nvrtc-cu12==12.9.86
"${install[@]}" 12.6.85 nvidia-cuda-nvrtc-cu12==12.6.85
cat >compile.py <<'PY'
import ctypes, glob, sys

version, *archs = sys.argv[1:]
nvrtc = ctypes.CDLL(glob.glob(f"{version}/**/libnvrtc.so.1[23]", recursive=True)[0])
source = b"""extern "C" __global__ void k(float* y) {
    __shared__ float tile[16384];
    tile[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[1023 - threadIdx.x];
}"""


def accepts(arch):
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None)
    return nvrtc.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(f"--gpu-architecture={arch}".encode())) == 0


print(", ".join(f"{arch} {'accepted' if accepts(arch) else 'refused'}" for arch in archs))
PY
expect() {
    wanted=$1
    shift
    seen=$(LD_LIBRARY_PATH=$(dirname "$(find "$1" -name 'libnvrtc.so.1[23]')") python3 compile.py "$@")
    echo "$*: $seen"
    [ "$seen" = "$wanted" ] || { echo "this has changed: it was $wanted"; exit 1; }
}
expect 'sm_86 refused, sm_90 refused, sm_90a accepted' 13.5.37 sm_86 sm_90 sm_90a
expect 'sm_86 refused, sm_90 refused, sm_90a refused' 12.9.86 sm_86 sm_90 sm_90a
expect 'sm_86 accepted, sm_90 accepted, sm_90a accepted' 12.6.85 sm_86 sm_90 sm_90a
