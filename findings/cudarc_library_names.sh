#!/usr/bin/env bash
# A program that cudarc builds for CUDA 12 does not find the libraries of CUDA 13, but the other way round it does.
#
# Versions:  cudarc 0.19.10 with `dynamic-loading`; NVRTC from PyPI: nvidia-cuda-nvrtc 13.0.88 and
#            nvidia-cuda-nvrtc-cu12 12.9.86, whose only library names are libnvrtc.so.13 and libnvrtc.so.12. No GPU.
# Guess:     with `dynamic-loading`, cudarc looks for the library of the CUDA version in its features, or for any
#            version: either both mixed cases work, or none.
# Seen:      built with `cuda-12090`, it tries .so, .12, .11, .10, .9 and .1, so libnvrtc.so.13 is missing for it. Built
#            with `cuda-13000`, it also tries .12, and takes NVRTC 12.9 without a word. The same list of names is used
#            for cuBLAS and the other libraries: a program for CUDA 12 fails on a machine that has only PyTorch's
#            CUDA 13 wheels, which have no unversioned names.
#
# Usage: findings/cudarc_library_names.sh    (needs cargo; installs about 200 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
install=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target)
"${install[@]}" cuda13 nvidia-cuda-nvrtc==13.0.88
"${install[@]}" cuda12 nvidia-cuda-nvrtc-cu12==12.9.86
mkdir -p program/src
cat >program/Cargo.toml <<'TOML'
[package]
name = "present"
version = "0.0.0"
edition = "2024"

[features]
cuda12 = ["cudarc/cuda-12090"]
cuda13 = ["cudarc/cuda-13000"]

[dependencies]
cudarc = { version = "=0.19.10", default-features = false, features = ["std", "nvrtc", "dynamic-loading"] }

[workspace]
TOML
cat >program/src/main.rs <<'RUST'
fn main() {
    let there = unsafe { cudarc::nvrtc::sys::is_culib_present() };
    println!("{}", if there { "found" } else { "not found" });
}
RUST
expect() {
    libraries=$(dirname "$(find "$folder/$2" -name 'libnvrtc.so.*' | head -n 1)")
    cargo build --quiet --manifest-path program/Cargo.toml --features "$1" --target-dir target
    seen=$(LD_LIBRARY_PATH=$libraries target/debug/present)
    echo "built for $1, only the libraries of $2: $seen"
    [ "$seen" = "$3" ] || { echo "this has changed: it was $3"; exit 1; }
}
expect cuda12 cuda12 found
expect cuda13 cuda13 found
expect cuda12 cuda13 "not found"
expect cuda13 cuda12 found
