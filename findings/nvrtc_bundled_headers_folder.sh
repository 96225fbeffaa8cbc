#!/usr/bin/env bash
# A folder that NVRTC filled with its bundled headers works with that version alone, and is never repaired.
#
# Versions:  nvidia-cuda-nvrtc 13.3.33 and 13.5.37 from PyPI. No GPU.
# Guess:     --use-bundled-headers=FOLDER makes the compiler's own headers available. A folder that another version
#            filled is filled again, and a header that someone deleted or changed is restored.
# Seen:      if 13.3 filled the folder, every compile with 13.5 fails with NVRTC_ERROR_BUILTIN_OPERATION_FAILURE (7), and
#            the log advises a flag that compile options do not have. A file with the version number alone decides that
#            the headers are there: a deleted header stays missing, a changed one stays changed, and files of others stay.
#
# Usage: findings/nvrtc_bundled_headers_folder.sh    (installs about 400 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for version in 13.3.33 13.5.37; do
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
        --target "$version" "nvidia-cuda-nvrtc==$version"
done
cat >compile.py <<'PY'
import ctypes, glob, sys

version, headers = sys.argv[1:]
nvrtc = ctypes.CDLL(glob.glob(f"{version}/nvidia/cu13/lib/libnvrtc.so.13")[0])
program = ctypes.c_void_p()
source = b"#include <cuda_fp16.h>\n__global__ void k(__half* x) { x[0] = __float2half(1.0f); }\n"
nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None)
options = [b"--gpu-architecture=compute_90", f"--use-bundled-headers={headers}".encode()]
status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
size = ctypes.c_size_t()
nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetProgramLog(program, log)
lines = [line.split("error: ", 1)[1] for line in log.value.decode().splitlines() if "error: " in line]
print(status, *lines[:1])
PY
expect() {
    wanted=$1
    shift
    seen=$(LD_LIBRARY_PATH=$1/nvidia/cu13/lib python3 compile.py "$1" "$PWD/$2")
    echo "$3: $seen"
    [ "$seen" = "$wanted" ] || { echo "this has changed: it was $wanted"; exit 1; }
}
expect '0' 13.3.33 shared 'an empty folder'
touch shared/mine
expect '7 existing headers version mismatch (installed CUDA 13.3, expected CUDA 13.5; use FORCE_OVERWRITE to reinstall)' \
    13.5.37 shared 'a folder that 13.3 filled, with 13.5'
[ -e shared/mine ]
expect '0' 13.5.37 own 'a folder for each version'
rm own/cuda_fp16.h
expect '6 cannot open source file "cuda_fp16.h"' 13.5.37 own 'after a header was deleted'
echo '#error changed' >own/cuda_fp16.h
expect '6 #error directive: changed' 13.5.37 own 'after a header was changed'
rm own/.nvrtc_headers_version
expect '0' 13.5.37 own 'after the file with the version was deleted'
