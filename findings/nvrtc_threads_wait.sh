#!/usr/bin/env bash
# Threads of one process wait for each other in NVRTC: for all of a compile in 12.1, for the parsing in 13.5.
#
# Versions:  nvidia-cuda-nvrtc-cu12 12.1.105 and nvidia-cuda-nvrtc 13.5.37 from PyPI. No GPU.
# Guess:     NVRTC may be called from several threads, so two threads compile two programs at the same time.
# Seen:      of two compiles that begin together, one is blocked while the other parses, in both versions: programs that
#            include large headers take twice the time. What follows the parsing runs at the same time in 13.5, but not
#            in 12.1. Time limits of a compile that are limits of wall time therefore count the compiles of other threads.
#            A thread is called blocked for the time in which it neither runs nor waits for a processor
#            (/proc/thread-self/schedstat), so a busy machine does not change the result.
#
# Usage: findings/nvrtc_threads_wait.sh    (installs about 250 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for package in nvidia-cuda-nvrtc-cu12==12.1.105 nvidia-cuda-nvrtc==13.5.37; do
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
        --target "${package##*==}" "$package"
done
cat >compile.py <<'PY'
import ctypes, glob, sys, threading, time

version, kind = sys.argv[1:]
nvrtc = ctypes.CDLL(glob.glob(f"{version}/nvidia/*/lib/libnvrtc.so.1[23]")[0])

def source(kind, number):
    if kind == "parsed":
        types = "\n".join(f"template <int N> struct T{i} {{ static __device__ int f(int x) {{ return x + N; }} }};" for i in range(40000))
        return f'{types}\nextern "C" __global__ void k(int* x) {{ x[0] = T1<{number}>::f(x[1]); }}'
    return ('extern "C" __global__ void k(float* x) { float s = 0;\n#pragma unroll\n'
            f"for (int i = 0; i < 1500; ++i) s = s * x[i * 7] + {number}; x[0] = s; }}")

def schedule():
    return [int(word) for word in open("/proc/thread-self/schedstat").read().split()[:2]]

def compile(number, blocked):
    program, options = ctypes.c_void_p(), (ctypes.c_char_p * 1)(b"--gpu-architecture=sm_89")
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source(kind, number).encode(), b"k.cu", 0, None, None)
    before, start = schedule(), time.monotonic_ns()
    status = nvrtc.nvrtcCompileProgram(program, 1, options)
    wall, after = time.monotonic_ns() - start, schedule()
    ran, waited = (last - first for first, last in zip(before, after))
    if status:
        sys.exit(f"NVRTC's result is {status}")
    blocked.append((wall - ran - waited) / ran)

compile(0, [])
blocked = []
threads = [threading.Thread(target=compile, args=(number, blocked)) for number in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
# The blocked time of the thread that waited longer, as a part of the time in which it ran.
print("one waits for the other" if max(blocked) > 0.3 else "both compile", f"{max(blocked):.2f}", sep=": ")
PY
expect() {
    seen=$(LD_LIBRARY_PATH=$(echo "$PWD/$1"/nvidia/*/lib) python3 compile.py "$1" "$2")
    echo "$1, a program in which most is $2: $seen"
    [ "${seen%%:*}" = "$3" ] || { echo "this has changed: it was \"$3\""; exit 1; }
}
expect 12.1.105 parsed 'one waits for the other'
expect 12.1.105 optimised 'one waits for the other'
expect 13.5.37 parsed 'one waits for the other'
expect 13.5.37 optimised 'both compile'
