#!/usr/bin/env bash
# NVRTC compiles a kernel in an unnamed namespace to another image in each process.
#
# Versions:  nvidia-cuda-nvrtc 13.5.37 and nvidia-cuda-nvrtc-cu12 12.9.86 from PyPI. No GPU.
# Guess:     a compiler that reads one text, with no time, path or random number in it, makes the same bytes each time,
#            so that a program can cache images by a hash of text, options and version, and compare caches by content.
# Seen:      the symbol of the kernel contains the number of the process, so that the images of two processes differ,
#            and a name that one process asked for (nvrtcGetLoweredName) is not in the image of another. A static kernel,
#            which also has internal linkage, has the same image each time; so has the first one with --frandom-seed.
#
# Usage: findings/nvrtc_unnamed_namespace.sh    (installs about 400 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
install=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target)
"${install[@]}" 13.5.37 nvidia-cuda-nvrtc==13.5.37
"${install[@]}" 12.9.86 nvidia-cuda-nvrtc-cu12==12.9.86
cat >compile.py <<'PY'
import ctypes, glob, os, re, sys

version, kind, *options = sys.argv[1:]
sources = {
    "unnamed": b"namespace { __global__ void k(int* y) { y[threadIdx.x] = 1; } }",
    "static": b"static __global__ void k(int* y) { y[threadIdx.x] = 1; }",
}
nvrtc = ctypes.CDLL(glob.glob(f"{version}/**/libnvrtc.so.1[23]", recursive=True)[0])
program = ctypes.c_void_p()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), sources[kind], b"k.cu", 0, None, None)
options = [b"--gpu-architecture=sm_86", *(option.encode() for option in options)]
assert nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)) == 0
size = ctypes.c_size_t()
nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
image = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetCUBIN(program, image)
with open(f"{os.getpid()}.cubin", "wb") as file:
    file.write(image.raw)
# The mangled name of the kernel ends with 1k: its length, and itself.
named = re.search(rb"_(\d+)1kE", image.raw)
print(os.getpid(), "names the process" if named and int(named[1]) == os.getpid() else "does not name it")
PY
expect() {
    wanted=$1
    shift
    export LD_LIBRARY_PATH
    LD_LIBRARY_PATH=$(dirname "$(find "$1" -name 'libnvrtc.so.1[23]')")
    read -r first names <<<"$(python3 compile.py "$@")"
    read -r second _ <<<"$(python3 compile.py "$@")"
    seen="different, $names"
    if cmp -s "$first.cubin" "$second.cubin"; then seen="the same, $names"; fi
    echo "$*: images of two processes are $seen"
    [ "$seen" = "$wanted" ] || { echo "this has changed: it was $wanted"; exit 1; }
}
for version in 13.5.37 12.9.86; do
    expect 'different, names the process' "$version" unnamed
    expect 'the same, does not name it' "$version" static
    expect 'the same, does not name it' "$version" unnamed --frandom-seed=7
done
