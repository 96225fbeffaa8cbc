#!/usr/bin/env bash
# What -fsanitize=thread reports of `y[i] += x[i]` depends on the compiler.
#
# Versions:  clang 20.1.2, as the package ziglang 0.15.1 from PyPI has it; any g++ from 12 on, if there is one.
# Guess:     the instrumented function calls __tsan_read4 twice (for x[i] and y[i]) and __tsan_write4 once, as the code
#            accesses memory three times.
# Seen:      g++ calls them so. clang reports only one read. It omits a read that a write to the same address follows in
#            the same basic block, because any race of the read is also a race of the write. A tool that uses these calls
#            for another question, for example whether memory is read before anything was written to it, misses the read.
#            `-mllvm -tsan-instrument-read-before-write=1` brings it back;
#            `-mllvm -tsan-compound-read-before-write=1` makes one call of __tsan_read_write4 of the two.
#
# Usage: findings/tsan_read_before_write.sh    (installs about 400 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target wheels ziglang==0.15.1
export PYTHONPATH=$folder/wheels ZIG_GLOBAL_CACHE_DIR=$folder/cache ZIG_LOCAL_CACHE_DIR=$folder/cache
echo 'extern "C" void accumulate(float* y, const float* x, unsigned i) { y[i] += x[i]; }' >accumulate.cpp

# The calls in the assembly text, each with its number, in alphabetical order.
calls() {
    grep -oE 'call[a-z]*[[:space:]]+__tsan_(read|write|read_write)4' "$1" | grep -oE '__tsan_[a-z_0-9]+' | sort | uniq -c |
        awk '{printf "%s%s %s", sep, $1, $2; sep = ", "}'
}
expect() {
    echo "$1: $2"
    [ "$2" = "$3" ] || { echo "this has changed: it was $3"; exit 1; }
}
clang() {
    python3 -m ziglang c++ -target x86_64-linux-gnu -O2 -fsanitize=thread "$@" -S -o out.s accumulate.cpp 2>log || { cat log; exit 1; }
    calls out.s
}
python3 -m ziglang c++ --version | head -n 1
expect "clang" "$(clang)" "1 __tsan_read4, 1 __tsan_write4"
expect "clang, instrumenting reads before writes" "$(clang -mllvm -tsan-instrument-read-before-write=1)" \
    "2 __tsan_read4, 1 __tsan_write4"
expect "clang, with compound accesses" "$(clang -mllvm -tsan-compound-read-before-write=1)" \
    "1 __tsan_read4, 1 __tsan_read_write4"
if command -v g++ >/dev/null; then
    g++ --version | head -n 1
    g++ -O2 -fsanitize=thread -S -o gcc.s accumulate.cpp
    case $(uname -m) in
        x86_64) expect "g++" "$(calls gcc.s)" "2 __tsan_read4, 1 __tsan_write4" ;;
    esac
fi
