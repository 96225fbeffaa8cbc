#!/usr/bin/env bash
# NVRTC's log replaces a backtick, `@` and `$` in the message of a static_assert by question marks.
#
# Versions:  nvidia-cuda-nvrtc-cu12 12.1.105 and nvidia-cuda-nvrtc 13.5.37 from PyPI. No GPU.
# Guess:     the log contains the message of a failed static_assert as the source has it, at least its ASCII characters,
#            as in the logs of g++ and clang.
# Seen:      three printable ASCII characters, those that are not in C++'s basic character set before C++26, become `?`.
#            Quotes, `~` and `^` stay. Names in messages that generated code asserts therefore need other quotes, and
#            programs that read the log must not look for backticks.
#
# Usage: findings/nvrtc_static_assert_characters.sh    (installs about 250 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >compile.py <<'PY'
import ctypes, glob, sys

nvrtc = ctypes.CDLL(glob.glob(f"{sys.argv[1]}/nvidia/*/lib/libnvrtc.so.1[23]")[0])
source = "static_assert(1 == 2, \"`a` @ $ 'b' ~ ^\");\nextern \"C\" __global__ void k() {}"
program, size = ctypes.c_void_p(), ctypes.c_size_t()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"k.cu", 0, None, None)
if nvrtc.nvrtcCompileProgram(program, 0, None) == 0:
    sys.exit("the assertion did not fail")
nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetProgramLog(program, log)
print(log.value.decode().splitlines()[0])
PY
for package in nvidia-cuda-nvrtc-cu12==12.1.105 nvidia-cuda-nvrtc==13.5.37; do
    version=${package##*==}
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
        --target "$version" "$package"
    seen=$(LD_LIBRARY_PATH=$(echo "$PWD/$version"/nvidia/*/lib) python3 compile.py "$version")
    echo "$version: $seen"
    case $seen in
    *"\"?a? ? ? 'b' ~ ^\"") ;;
    *) echo "this has changed: it ended in \"?a? ? ? 'b' ~ ^\""; exit 1 ;;
    esac
done
