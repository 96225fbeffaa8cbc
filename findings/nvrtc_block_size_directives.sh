#!/usr/bin/env bash
# __block_size__ means another grid with CUDA 13 than with CUDA 12.9: the compiler adds .blocksareclusters.
#
# Versions:  nvidia-cuda-nvrtc 13.5.37 and 13.0.88, and nvidia-cuda-nvrtc-cu12 12.9.86 from PyPI, for compute_90. No GPU.
# Guess:     an attribute that both versions accept for the same kernel leads to the same directives in PTX, so that a
#            launch of G blocks stays one of G blocks after an upgrade.
# Seen:      with __block_size__((64, 1, 1), (2, 1, 1)), all write .reqntid and .reqnctapercluster. CUDA 13 also writes
#            .blocksareclusters, with which PTX counts the grid of a launch in clusters: G then means 2 * G blocks.
#            __cluster_dims__(2, 1, 1) leads to the same directives in all of them.
#
# Usage: findings/nvrtc_block_size_directives.sh    (installs about 600 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
install=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target)
"${install[@]}" 13.5.37 nvidia-cuda-nvrtc==13.5.37
"${install[@]}" 13.0.88 nvidia-cuda-nvrtc==13.0.88
"${install[@]}" 12.9.86 nvidia-cuda-nvrtc-cu12==12.9.86
cat >compile.py <<'PY'
import ctypes, glob, sys

version, attribute = sys.argv[1:]
nvrtc = ctypes.CDLL(glob.glob(f"{version}/**/libnvrtc.so.1[23]", recursive=True)[0])
program = ctypes.c_void_p()
source = f'extern "C" __global__ void {attribute} k(int* y) {{ y[threadIdx.x] = 1; }}'.encode()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None)
assert nvrtc.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(b"--gpu-architecture=compute_90")) == 0
size = ctypes.c_size_t()
nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
ptx = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetPTX(program, ptx)
known = (".reqntid", ".reqnctapercluster", ".blocksareclusters", ".explicitcluster")
words = [line.split()[0] for line in ptx.value.decode().splitlines() if line.startswith(known)]
print(" ".join(sorted(words)))
PY
expect() {
    wanted=$1
    shift
    seen=$(LD_LIBRARY_PATH=$(dirname "$(find "$1" -name 'libnvrtc.so.1[23]')") python3 compile.py "$@")
    echo "$*: $seen"
    [ "$seen" = "$wanted" ] || { echo "this has changed: it was $wanted"; exit 1; }
}
block='__block_size__((64, 1, 1), (2, 1, 1))'
expect '.reqnctapercluster .reqntid' 12.9.86 "$block"
expect '.blocksareclusters .reqnctapercluster .reqntid' 13.0.88 "$block"
expect '.blocksareclusters .reqnctapercluster .reqntid' 13.5.37 "$block"
for version in 12.9.86 13.0.88 13.5.37; do
    expect '.explicitcluster .reqnctapercluster' "$version" '__cluster_dims__(2, 1, 1)'
done
