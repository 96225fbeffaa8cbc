#!/usr/bin/env bash
# One call of a GPU day, on a machine without Rust and without the internet: ./run.sh A|B --seconds N [--have DIR] [--device cuda:0]
# docs/gpu-day.md says when to make which call.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
exec python3 "$here/day/day.py" --root "$here" "$@"
