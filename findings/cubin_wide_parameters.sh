#!/usr/bin/env bash
# A kernel with more than 4,352 bytes of parameters describes all of them, the small ones too, by another record.
#
# Versions:  nvidia-cuda-nvrtc 13.5.37 and nvidia-cuda-nvrtc-cu12 12.9.86 from PyPI; cuobjdump of
#            nvidia-cuda-cuobjdump 13.5.37. No GPU.
# Guess:     a cubin has one record EIATTR_KPARAM_INFO for each parameter of a kernel, so counting these records gives
#            the number of parameters. If there is another form for large kernels, it begins where CUDA's old limit of
#            4,096 bytes of parameters ends, or it describes only a parameter that is itself large.
# Seen:      with up to 4,352 (0x1100) bytes of parameters, there are as many EIATTR_KPARAM_INFO as parameters. With 4,360
#            bytes, there is none: each parameter, a pointer of 8 bytes too, has an EIATTR_KPARAM_INFO_V2. Whoever counts
#            the old records finds a kernel without parameters. Both versions agree.
#
# Usage: findings/cubin_wide_parameters.sh    (installs about 400 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
install=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target)
"${install[@]}" 13.5.37 nvidia-cuda-nvrtc==13.5.37
"${install[@]}" 12.9.86 nvidia-cuda-nvrtc-cu12==12.9.86
"${install[@]}" tool nvidia-cuda-cuobjdump==13.5.37
cuobjdump=$(find tool -name cuobjdump -type f)
chmod +x "$cuobjdump"
cat >compile.py <<'PY'
import ctypes, glob, sys

version, size = sys.argv[1], int(sys.argv[2])
nvrtc = ctypes.CDLL(glob.glob(f"{version}/**/libnvrtc.so.1[23]", recursive=True)[0])
source = f"""struct Many {{ char bytes[{size - 16}]; }};
extern "C" __global__ void k(Many many, char* y, int* z) {{ y[threadIdx.x] = many.bytes[z[threadIdx.x]]; }}"""
program = ctypes.c_void_p()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"k.cu", 0, None, None)
assert nvrtc.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(b"--gpu-architecture=sm_90")) == 0
count = ctypes.c_size_t()
nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(count))
image = ctypes.create_string_buffer(count.value)
nvrtc.nvrtcGetCUBIN(program, image)
open("k.cubin", "wb").write(image.raw)
PY
for version in 13.5.37 12.9.86; do
    for size in 4104 4352 4360; do
        LD_LIBRARY_PATH=$(dirname "$(find $version -name 'libnvrtc.so.1[23]')") python3 compile.py $version $size
        # The section's records are named one per line.
        names=$("$cuobjdump" -elf k.cubin | grep -o 'EIATTR_KPARAM_INFO[_V2]*' || true)
        seen="$(grep -cx EIATTR_KPARAM_INFO <<<"$names" || true) old, $(grep -cx EIATTR_KPARAM_INFO_V2 <<<"$names" || true) new"
        echo "$version, 3 parameters of $size bytes in all: $seen"
        wanted=$([ $size -le 4352 ] && echo '3 old, 0 new' || echo '0 old, 3 new')
        [ "$seen" = "$wanted" ] || { echo "this has changed: it was $wanted"; exit 1; }
    done
done
