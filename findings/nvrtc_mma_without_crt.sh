#!/usr/bin/env bash
# PyTorch's packages of CUDA 13.0 contain mma.h and cooperative_groups.h, but not the headers that these include.
#
# Versions:  nvidia-cuda-nvrtc 13.0.88 and nvidia-cuda-runtime 13.0.96 from PyPI, the versions that torch 2.11 requires
#            for CUDA 13; nvidia-cuda-crt 13.0.88 and nvidia-cuda-cccl 13.0.85, which it does not require. No GPU.
# Guess:     a header that an installed package contains compiles with the compiler that was installed with it.
# Seen:      mma.h cannot open "crt/mma.h", and cooperative_groups.h cannot open <nv/target>. They need two more
#            packages, and an option -I for include/cccl, which is a folder of its own since CUDA 13.
#
# Usage: findings/nvrtc_mma_without_crt.sh    (installs about 200 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
install=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target)
torch=(nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-runtime==13.0.96)
"${install[@]}" as_torch "${torch[@]}"
"${install[@]}" all "${torch[@]}" nvidia-cuda-crt==13.0.88 nvidia-cuda-cccl==13.0.85
cat >compile.py <<'PY'
import ctypes, glob, sys

wheels, header, *folders = sys.argv[1:]
nvrtc = ctypes.CDLL(glob.glob(f"{wheels}/**/libnvrtc.so.13", recursive=True)[0])
program = ctypes.c_void_p()
source = f"#include <{header}>\n__global__ void k() {{}}\n".encode()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None)
options = [b"--gpu-architecture=compute_90"]
options += [f"-I{wheels}/nvidia/cu13/include/{folder}".encode() for folder in ["", *folders]]
status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
size = ctypes.c_size_t()
nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetProgramLog(program, log)
lines = log.value.decode().splitlines()
print("compiles" if status == 0 else next(line.split("error: ", 1)[1] for line in lines if "error: " in line))
PY
expect() {
    wanted=$1
    shift
    seen=$(LD_LIBRARY_PATH=$1/nvidia/cu13/lib python3 compile.py "$@")
    echo "$*: $seen"
    [ "$seen" = "$wanted" ] || { echo "this has changed: it was $wanted"; exit 1; }
}
expect 'cannot open source file "crt/mma.h"' as_torch mma.h
expect 'cannot open source file "nv/target"' as_torch cooperative_groups.h
expect 'compiles' all mma.h
expect 'cannot open source file "cuda/std/type_traits"' all cooperative_groups.h
expect 'compiles' all cooperative_groups.h cccl
