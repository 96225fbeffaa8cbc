#!/usr/bin/env bash
# The version of the wheel nvidia-cuda-cccl does not follow CUDA's since 13.3.
#
# Versions:  nvidia-cuda-cccl 13.2.86, 13.3.3.4.1, 13.3.4.3.1 and 13.3.5.0.6 from PyPI.
# Guess:     the wheel has CUDA's version, as those of NVRTC, the runtime and crt have, and as its own had until 13.2.86.
#            So `nvidia-cuda-cccl==13.3.*` is CCCL of CUDA 13.3, and `==13.4.*` that of CUDA 13.4.
# Seen:      since 13.3 the version is CUDA's major version followed by the version of CCCL: 13.3.5.0.6 is CCCL 3.5.0. So
#            `==13.3.*` installs CCCL 3.5, which came with CUDA 13.5, and `==13.4.*` finds nothing. `==13.3.4.*` is the
#            request for the headers of CUDA 13.4.
#
# Usage: findings/cccl_wheel_versions.sh    (downloads about 20 MB into a temporary folder, and removes it)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
install=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps)
expect() { echo "$1: $3"; [ "$2" = "$3" ] || { echo "this has changed: it was $2"; exit 1; }; }
cccl_in() { grep -rh 'define CCCL_VERSION ' "$1" --include=version.h | grep -o '[0-9]*$' | sort -u; }
for pair in 13.2.86:3002000 13.3.3.4.1:3003004 13.3.4.3.1:3004003 13.3.5.0.6:3005000; do
    "${install[@]}" --target "${pair%%:*}" "nvidia-cuda-cccl==${pair%%:*}"
    seen=$(cccl_in "${pair%%:*}")
    # 13.2 came with CCCL 3.2; its last digits do not matter here.
    case $pair in 13.2.*) expect "${pair%%:*}" 3002 "${seen:0:4}" ;; *) expect "${pair%%:*}" "${pair#*:}" "$seen" ;; esac
done
"${install[@]}" --target asked 'nvidia-cuda-cccl==13.3.*,<13.3.5.0.7'
expect 'asked for ==13.3.*' 3005000 "$(cccl_in asked)"
seen=found
"${install[@]}" --target none 'nvidia-cuda-cccl==13.4.*' 2>error || seen='no matching distribution'
grep -q 'No matching distribution found for nvidia-cuda-cccl==13.4' error || seen='another error'
expect 'asked for ==13.4.*' 'no matching distribution' "$seen"
