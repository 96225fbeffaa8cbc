#!/usr/bin/env python3
"""Compiles a file of CUDA to a cubin with a given NVRTC. It needs no GPU and no driver.

    nvrtc.py LIBRARY SOURCE ARCH OUT

LIBRARY is a libnvrtc.so, or a folder with one at some depth; ARCH is an architecture such as sm_90a.
"""

import ctypes
import pathlib
import sys

# The first version with a result cache of its own, which would load the driver.
KEEPS_RESULTS = (12, 9)


class Nvrtc:
    def __init__(self, file):
        # NVRTC asks the loader for its builtins by name, so they are loaded first: the loader may not know the folder.
        for builtins in sorted(file.parent.glob("libnvrtc-builtins.so.*")):
            ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(str(file))
        self.library.nvrtcGetErrorString.restype = ctypes.c_char_p
        self.program = ctypes.c_void_p()

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            log = self.read("nvrtcGetProgramLog").rstrip(b"\0").decode(errors="replace") if self.program else ""
            raise SystemExit(f"nvrtc.py: {name}: {self.library.nvrtcGetErrorString(code).decode()}\n{log}".rstrip())

    def read(self, name):
        """What NVRTC has made of the program: the size is asked for by `…Size`, the bytes by the name itself."""
        size = ctypes.c_size_t()
        self.call(f"{name}Size", self.program, ctypes.byref(size))
        room = ctypes.create_string_buffer(size.value)
        self.call(name, self.program, room)
        return room.raw

    def version(self):
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value

    def cubin(self, name, source, arch):
        options = [f"--gpu-architecture={arch}", "--std=c++17"]
        options += ["--no-cache"] if self.version() >= KEEPS_RESULTS else []
        words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        program = ctypes.byref(self.program)
        self.call("nvrtcCreateProgram", program, ctypes.c_char_p(source), ctypes.c_char_p(name.encode()), 0, None, None)
        self.call("nvrtcCompileProgram", self.program, len(options), words)
        return self.read("nvrtcGetCUBIN")


def library(place):
    """The newest NVRTC of a folder; a file is itself."""
    if not place.is_dir():
        return place
    version = lambda file: [int(part) for part in file.name.split(".") if part.isdigit()]
    found = sorted(place.rglob("libnvrtc.so*"), key=version)
    if not found:
        raise SystemExit(f"nvrtc.py: {place}: there is no libnvrtc.so")
    return found[-1]


def main():
    if len(sys.argv) != 5:
        raise SystemExit(__doc__)
    place, source, arch, out = sys.argv[1:]
    source = pathlib.Path(source)
    try:
        made = Nvrtc(library(pathlib.Path(place))).cubin(source.name, source.read_bytes(), arch)
        pathlib.Path(out).write_bytes(made)
    except OSError as error:
        raise SystemExit(f"nvrtc.py: {error}") from error


if __name__ == "__main__":
    main()
