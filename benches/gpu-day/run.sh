#!/usr/bin/env bash
# One part of a GPU day, on a machine without Rust and without the internet: ./run.sh 1|2|3 [--device cuda:0] [--out DIR] [--pack FILE].
# docs/gpu-day.md says what each part does.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
exec python3 "$here/day/day.py" --root "$here" "$@"
