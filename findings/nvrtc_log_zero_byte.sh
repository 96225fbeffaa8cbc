#!/usr/bin/env bash
# The log of NVRTC is not one C string: with -v, the error of a refused kernel follows a zero byte.
#
# Versions:  nvidia-cuda-nvrtc 13.5.37 and nvidia-cuda-nvrtc-cu12 12.9.86 from PyPI. No GPU.
# Guess:     what nvrtcGetProgramLog writes is a C string of the length that nvrtcGetProgramLogSize returned, so that a
#            program can print it up to the first zero byte.
# Seen:      with --ptxas-options=-v, a kernel that ptxas refuses has a log of two strings. The first has only what
#            ptxas says about registers, and no error. The error is after the zero byte. Without -v, it is in the first.
#
# Usage: findings/nvrtc_log_zero_byte.sh    (installs about 400 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
install=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target)
"${install[@]}" 13.5.37 nvidia-cuda-nvrtc==13.5.37
"${install[@]}" 12.9.86 nvidia-cuda-nvrtc-cu12==12.9.86
cat >compile.py <<'PY'
import ctypes, glob, sys

version, *options = sys.argv[1:]
nvrtc = ctypes.CDLL(glob.glob(f"{version}/**/libnvrtc.so.1[23]", recursive=True)[0])
program = ctypes.c_void_p()
source = b"""extern "C" __global__ void k(float* y) {
    __shared__ float tile[20000];
    tile[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[1023 - threadIdx.x];
}"""
nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None)
options = [b"--gpu-architecture=sm_86", *(option.encode() for option in options)]
status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
size = ctypes.c_size_t()
nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetProgramLog(program, log)
first, _, rest = log.raw.partition(b"\0")
where = [name for name, part in [("first string", first), ("after it", rest)] if b"too much shared data" in part]
print(f"status {status}, the error is in: {', '.join(where)}")
PY
expect() {
    wanted=$1
    shift
    seen=$(LD_LIBRARY_PATH=$(dirname "$(find "$1" -name 'libnvrtc.so.1[23]')") python3 compile.py "$@")
    echo "$*: $seen"
    [ "$seen" = "$wanted" ] || { echo "this has changed: it was $wanted"; exit 1; }
}
for version in 13.5.37 12.9.86; do
    expect 'status 6, the error is in: first string' "$version"
    expect 'status 6, the error is in: after it' "$version" --ptxas-options=-v
done
