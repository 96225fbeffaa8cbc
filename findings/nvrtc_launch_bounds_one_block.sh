#!/usr/bin/env bash
# If a kernel needs far too many registers, NVRTC gives it fewer with __launch_bounds__(512) than with (512, 1).
#
# Versions:  nvidia-cuda-nvrtc 13.5.37 and nvidia-cuda-nvrtc-cu12 12.9.86 from PyPI, for sm_86 and sm_90. No GPU.
# Guess:     the second number is the least number of blocks for each multiprocessor, so that 1 adds nothing: both let a
#            thread have 65536 / 512 = 128 registers, and a kernel that needs more gets 128 and spills the rest.
# Seen:      that is so for a kernel that needs somewhat more. One that needs many more still gets 128 with (512, 1), but
#            64 (sm_86) or 32 (sm_90) with (512), and spills more than it has to. No message says so.
#
# Usage: findings/nvrtc_launch_bounds_one_block.sh    (installs about 400 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
install=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target)
"${install[@]}" 13.5.37 nvidia-cuda-nvrtc==13.5.37
"${install[@]}" 12.9.86 nvidia-cuda-nvrtc-cu12==12.9.86
cat >compile.py <<'PY'
import ctypes, glob, re, sys

version, arch, values = sys.argv[1:]
nvrtc = ctypes.CDLL(glob.glob(f"{version}/**/libnvrtc.so.1[23]", recursive=True)[0])
# Sums of products of all pairs: every value is needed until the end.
kernel = """extern "C" __global__ void %s k(float* x) {
    float a[VALUES], b[VALUES];
#pragma unroll
    for (int i = 0; i < VALUES; ++i) { a[i] = x[i * 512 + threadIdx.x]; b[i] = 0; }
    for (int n = 0; n < 100; ++n) {
#pragma unroll
        for (int i = 0; i < VALUES; ++i) b[i] += a[i] * a[(i + 1) %% VALUES] + b[(i + 3) %% VALUES];
    }
#pragma unroll
    for (int i = 0; i < VALUES; ++i) x[i * 512 + threadIdx.x] = b[i];
}"""


def compiled(bounds):
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), (kernel % bounds).encode(), b"k.cu", 0, None, None)
    options = [f"--gpu-architecture={arch}".encode(), f"-DVALUES={values}".encode(), b"--ptxas-options=-v"]
    assert nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)) == 0
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    assert b"warning" not in log.raw, log.raw
    return re.search(rb"Used (\d+) registers", log.raw)[1].decode()


print(", ".join(f"{bounds} {compiled(bounds)}" for bounds in ["__launch_bounds__(512)", "__launch_bounds__(512, 1)"]))
PY
expect() {
    wanted=$1
    shift
    seen=$(LD_LIBRARY_PATH=$(dirname "$(find "$1" -name 'libnvrtc.so.1[23]')") python3 compile.py "$@")
    echo "$*: $seen"
    [ "$seen" = "$wanted" ] || { echo "this has changed: it was $wanted"; exit 1; }
}
for version in 13.5.37 12.9.86; do
    for arch in sm_86 sm_90; do
        expect '__launch_bounds__(512) 128, __launch_bounds__(512, 1) 128' "$version" "$arch" 80
    done
    expect '__launch_bounds__(512) 64, __launch_bounds__(512, 1) 128' "$version" sm_86 200
    expect '__launch_bounds__(512) 32, __launch_bounds__(512, 1) 128' "$version" sm_90 200
done
