#!/usr/bin/env python3
"""Kernels against themselves: `tune compare` of saved kernels with sources that differ from the saved ones by a comment. Equal texts
would not be run; a comment makes no code, so that every difference found is an error of measuring.

    itself.py TUNE WORK KERNEL,KERNEL.. FILE WORDS..., WORDS being further ones of `tune compare`

WORK has the kernels with the rows that were saved: another row would be another kernel.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def main():
    tune, work, kernels, saved, *words = sys.argv[1:]
    work = pathlib.Path(work)
    with tempfile.TemporaryDirectory(prefix="kiln-itself-") as folder:
        copy = pathlib.Path(folder)
        shutil.copytree(work / "kernels", copy / "kernels")
        shutil.copy(work / "cargo-metadata.json", copy)
        for kernel in kernels.split(","):
            with (copy / "kernels" / "src" / kernel / f"{kernel}.cu").open("a") as source:
                source.write("// The same.\n")
        carried = ["--cargo-metadata", str(copy / "cargo-metadata.json"), "--package", "kiln-kernels"]
        command = [tune, "compare", *carried, "--kernel", kernels, *words, saved]
        return subprocess.run(command, cwd=copy, env=os.environ).returncode


if __name__ == "__main__":
    sys.exit(main())
