#!/usr/bin/env python3
"""What this machine is, as JSON: processor, driver, GPU and libraries, as far as they can be asked."""

import json
import os
import pathlib
import shutil
import subprocess

from steps import pytorch

ASKED = {
    "uname": ["uname", "-a"],
    "libraries": ["ldconfig", "-p"],
    "memory": ["free", "-m"],
    "libc": ["ldd", "--version"],
    "g++": ["g++", "--version"],
    "nvidia-smi": ["nvidia-smi", "-q"],
    "nvidia-smi topo": ["nvidia-smi", "topo", "-m"],
    "rocm-smi": ["rocm-smi", "--showallinfo"],
    "nvcc": ["nvcc", "--version"],
}
LIBRARIES = ["libcuda", "nvidia-ml", "nvrtc", "cublas", "amdhip", "hiprtc"]
TORCH = (
    # It opens no GPU: `tune run` refuses to measure on a GPU that another process uses.
    "import json, torch; print(json.dumps({'torch': torch.__version__, 'torch cuda': str(torch.version.cuda)}))"
)


def said(command, seconds=10):
    if not shutil.which(command[0]):
        return None
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=seconds).stdout.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"no answer: {error}"


def line_with(text, word):
    lines = [line for line in (text or "").splitlines() if word in line]
    return lines[0].split(":", 1)[1].strip() if lines and ":" in lines[0] else None


def main():
    facts = {name: answer for name, command in ASKED.items() if (answer := said(command)) is not None}
    versions = {}
    try:
        versions |= json.loads(said([pytorch(), "-c", TORCH], 25) or "")
    except ValueError:
        versions["torch"] = "none"
    for what in ["Driver Version", "CUDA Version"]:
        if (found := line_with(facts.get("nvidia-smi"), what)) is not None:
            versions[what.lower()] = found
    libraries = (facts.pop("libraries", None) or "").splitlines()
    facts["libraries"] = [line.strip() for line in libraries if any(word in line for word in LIBRARIES)]
    facts["processor"] = line_with(pathlib.Path("/proc/cpuinfo").read_text(), "model name")
    facts["cores"] = len(os.sched_getaffinity(0))
    facts["variables"] = {name: value for name, value in os.environ.items() if name.startswith(("KILN_", "CUDA_"))}
    print(json.dumps({"versions": versions, "facts": facts}, indent=1))


if __name__ == "__main__":
    main()
