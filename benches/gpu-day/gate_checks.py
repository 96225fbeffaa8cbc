#!/usr/bin/env python3
"""One check of the gate of a GPU day, in a process of its own. It makes calls that Kiln makes, too.

    gate_checks.py NAME JSON

JSON is what `gate.py` has found before. The result is one line of JSON with `state`, `said` and further fields. If a
driver breaks this process or never returns, `gate.py` and the other checks go on.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

# For Kiln's filler: two records and the launch of a recording take a host 10 to 15 us.
SHORT_FILLER_US = 20
# What the probe writes, and how it is launched: no two dimensions are equal, except ones that do not matter.
MAGIC, BLOCK, GRID = 0x6B696C6E, (32, 4, 2), (2, 3, 5)
SHARED_BYTES = [0, 4, 1000, 40000, 232192]
# What results of the driver mean on a borrowed machine.
FAULTS = {
    2: "another process fills the GPU's memory: nvidia-smi names it",
    34: "this is a stub to link against, not a driver: another libcuda.so.1 is needed",
    46: "another process has the GPU for itself: nvidia-smi names it",
    100: "the driver finds no GPU: look at nvidia-smi -L and /dev/nvidia0",
    200: "the file is damaged",
    209: "the image is for another architecture than this GPU",
    222: "the driver is older than the compiler",
    304: "the system refuses what the driver asks for: look at /dev/nvidia-uvm and ulimit -v",
    800: "the sandbox does not permit it",
    801: "this GPU or driver does not support it",
    802: "nvidia-fabricmanager does not run: only the owner of the machine can start it",
    803: "this libcuda does not belong to the machine's kernel module: another libcuda.so.1 is needed",
    804: "this libcuda is a compatibility package that does not fit this GPU: another libcuda.so.1 is needed",
    900: "the driver does not record this",
    999: "look at /dev/nvidia-uvm and dmesg",
}
# Clock reasons that mean heat or the power supply (nvml.h).
BRAKES = {0x8: "hardware slowdown", 0x20: "thermal slowdown", 0x40: "thermal slowdown by hardware", 0x80: "power brake"}


class Refused(Exception):
    """A call that did not succeed."""


class Cuda:
    """One libcuda and one of its devices. A call that fails is an exception with the driver's name for the reason."""

    def __init__(self, given):
        self.library = ctypes.CDLL(given["file"])
        self("cuInit", 0)
        self.count = self.out(c_int, "cuDeviceGetCount").value
        if given["number"] >= self.count:
            raise Refused(f"the driver knows {self.count} devices, and the number {given['number']} is asked for")
        self.device = self.out(c_int, "cuDeviceGet", given["number"])
        self("cuCtxSetCurrent", self.out(c_void_p, "cuDevicePrimaryCtxRetain", self.device))

    def __call__(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(code, byref(text))
            fault = f"({FAULTS[code]})" if code in FAULTS else ""
            raise Refused(" ".join(filter(None, [f"{name}: error {code}", (text.value or b"").decode(), fault])))

    def out(self, kind, name, *arguments):
        """Calls a function that writes its result through the first argument."""
        value = kind()
        self(name, byref(value), *arguments)
        return value

    def attribute(self, number):
        return self.out(c_int, "cuDeviceGetAttribute", number, self.device).value

    def wait(self):
        self("cuCtxSynchronize")

    def memory(self, size):
        return self.out(c_uint64, "cuMemAlloc_v2", c_size_t(size))

    def fill(self, memory, size, stream=None):
        self("cuMemsetD8Async", memory, ctypes.c_ubyte(0), c_size_t(size), stream)

    def probe_of(self, path):
        module = self.out(c_void_p, "cuModuleLoadData", pathlib.Path(path).read_bytes())
        return self.out(c_void_p, "cuModuleGetFunction", module, b"kiln_probe")

    def launch(self, function, out, nonce, shared=0, stream=None):
        arguments = [out, c_uint(nonce)]
        pointers = (c_void_p * 2)(*map(ctypes.addressof, arguments))
        self("cuLaunchKernel", function, *GRID, *BLOCK, c_uint(shared), stream, pointers, None)

    def written(self, memory, stream=None):
        words = (c_uint * 9)()
        self("cuMemcpyDtoHAsync_v2", words, memory, c_size_t(ctypes.sizeof(words)), stream)
        self.wait()
        return list(words)

    def record(self, stream, queue):
        """A recording of what `queue` queues on the stream."""
        self("cuStreamBeginCapture_v2", stream, 1)
        queue()
        graph = c_void_p()
        self("cuStreamEndCapture", stream, byref(graph))
        return self.out(c_void_p, "cuGraphInstantiateWithFlags", graph, c_uint64(0))


def check_driver(given):
    cuda = Cuda(given)
    name, uuid = ctypes.create_string_buffer(256), (ctypes.c_ubyte * 16)()
    cuda("cuDeviceGetName", name, 255, cuda.device)
    cuda("cuDeviceGetUuid_v2", uuid, cuda.device)
    version = cuda.out(c_int, "cuDriverGetVersion").value
    room = cuda.out(c_size_t, "cuDeviceTotalMem_v2", cuda.device).value
    capability = f"{cuda.attribute(75)}.{cuda.attribute(76)}"
    digits = bytes(uuid).hex()
    name, newest = name.value.decode(), f"{version // 1000}.{version % 1000 // 10}"
    said = f"{name}, compute capability {capability}, {room / 2**30:.1f} GiB, driver of CUDA {newest}"
    found = {"product": name, "capability": capability, "memory_bytes": room, "version": version, "count": cuda.count}
    found["uuid"] = "GPU-" + "-".join(digits[a:b] for a, b in [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)])
    return {"state": "passed", "said": said, **found}


def check_cubins(given):
    cuda, loaded, refused = Cuda(given), [], {}
    for path in given["cubins"]:
        try:
            cuda.probe_of(path)
            loaded.append(path)
        except Refused as why:
            refused[os.path.basename(path)] = str(why)
    said = "; ".join(f"{name}: {why}" for name, why in refused.items()) or f"{len(loaded)} loaded"
    state = "passed" if not refused else "marked" if loaded else "failed"
    return {"state": state, "said": said, "loaded": loaded}


def check_shared(given):
    cuda = Cuda(given)
    function, memory = cuda.probe_of(given["cubin"]), cuda.memory(64)
    most = cuda.attribute(97) - cuda.out(c_int, "cuFuncGetAttribute", 1, function).value
    cuda("cuFuncSetAttribute", function, 8, most)
    rounded, asked = [], [size for size in SHARED_BYTES if size <= most]
    for nonce, size in enumerate(asked, 7919):
        cuda.fill(memory, 64)
        cuda.launch(function, memory, nonce, size)
        magic, dynamic, *rest = cuda.written(memory)
        if magic != MAGIC or rest != [*BLOCK, *GRID, nonce]:
            want, got = [MAGIC, size, *BLOCK, *GRID, nonce], [magic, dynamic, *rest]
            said = f"a kernel with {size} bytes of shared memory should write {want} and writes {got}"
            return {"state": "failed", "said": said}
        if dynamic != size:
            rounded.append(f"{size} bytes are asked for and the kernel sees {dynamic}")
    state = "marked" if rounded else "passed"
    return {"state": state, "said": "; ".join(rounded) or f"launches with {asked} bytes are right", "most_bytes": most}


def filler_us(cuda, stream, size):
    """The time of a recording of 40 fills of this size, which starts while another one runs."""
    memory = cuda.memory(size)
    fills = cuda.record(stream, lambda: [cuda.fill(memory, size, stream) for _ in range(40)])
    start, end = (cuda.out(c_void_p, "cuEventCreate", 0) for _ in range(2))
    for event in (start, end):
        cuda("cuGraphLaunch", fills, stream)
        cuda("cuEventRecord", event, stream)
    cuda("cuEventSynchronize", end)
    return round(cuda.out(ctypes.c_float, "cuEventElapsedTime", start, end).value * 1000, 1)


def check_graph(given):
    cuda = Cuda(given)
    function, memory = cuda.probe_of(given["cubin"]), cuda.memory(64)
    cuda.launch(function, memory, 1)
    cuda.wait()
    stream = cuda.out(c_void_p, "cuStreamCreate", 1)
    recorded = cuda.record(stream, lambda: cuda.launch(function, memory, 7907, 0, stream))
    cuda("cuGraphLaunch", recorded, stream)
    cuda("cuStreamSynchronize", stream)
    if cuda.written(memory)[-1] != 7907:
        return {"state": "failed", "said": "a recorded kernel does not run"}
    found = {"filler_us": filler_us(cuda, stream, 256), "filler_of_1_mib_us": filler_us(cuda, stream, 1 << 20)}
    short = found["filler_us"] < SHORT_FILLER_US
    said = f"40 small fills take {found['filler_us']} us"
    said += ": too short to hide the start of a recording" if short else ""
    return {"state": "marked" if short else "passed", "said": said, **found}


class Properties(ctypes.Structure):
    """`CUmemAllocationProp`: plain memory of one device."""

    _fields_ = [("kind", c_int), ("handles", c_int), ("place", c_int), ("device", c_int), ("rest", c_uint64 * 2)]


def check_guards(given):
    cuda = Cuda(given)
    properties = Properties(1, 0, 1, given["number"])
    page = cuda.out(c_size_t, "cuMemGetAllocationGranularity", byref(properties), 0).value
    none = c_uint64(0)
    start = cuda.out(c_uint64, "cuMemAddressReserve", c_size_t(3 * page), c_size_t(page), none, none).value
    piece = cuda.out(c_uint64, "cuMemCreate", c_size_t(page), byref(properties), none)
    middle, size = c_uint64(start + page), c_size_t(page)
    cuda("cuMemMap", middle, size, c_size_t(0), piece, none)
    cuda("cuMemSetAccess", middle, size, (c_int * 3)(1, given["number"], 3), c_size_t(1))
    cuda.fill(middle, page)
    cuda.wait()
    cuda("cuMemUnmap", middle, size)
    cuda("cuMemRelease", piece)
    cuda("cuMemAddressFree", c_uint64(start), c_size_t(3 * page))
    return {"state": "passed", "said": f"pages of {page} bytes are mapped between unmapped addresses"}


def check_clocks(given):
    nvml, device = ctypes.CDLL("libnvidia-ml.so.1"), c_void_p()
    uuid = given["uuid"].encode()
    for name, arguments in [("nvmlInit_v2", ()), ("nvmlDeviceGetHandleByUUID", (uuid, byref(device)))]:
        code = getattr(nvml, name)(*arguments)
        if code:
            raise Refused(f"{name}: error {code}")

    def ask(name, kind, *arguments):
        """None if this NVML or this GPU does not say it."""
        value, function = kind(), getattr(nvml, name, None)
        return value.value if function and function(device, *arguments, byref(value)) == 0 else None

    reasons = ask("nvmlDeviceGetCurrentClocksThrottleReasons", c_uint64) or 0
    found = {
        "sm_mhz": ask("nvmlDeviceGetClockInfo", c_uint, 1),
        "most_sm_mhz": ask("nvmlDeviceGetMaxClockInfo", c_uint, 1),
        "celsius": ask("nvmlDeviceGetTemperature", c_uint, 0),
        "limit_mw": ask("nvmlDeviceGetEnforcedPowerLimit", c_uint),
        "reasons": reasons,
        "persistence": ask("nvmlDeviceGetPersistenceMode", c_uint),
    }
    # Entries of 24 bytes that begin with the process (`nvmlProcessInfo_t`). No process of the gate has a context now.
    count, infos = c_uint(256), (c_uint * (6 * 256))()
    if nvml.nvmlDeviceGetComputeRunningProcesses_v3(device, byref(count), infos) not in (0, 7):
        count.value = 0
    pids = found["processes"] = [infos[6 * index] for index in range(min(count.value, 256))]
    brakes = ", ".join(f"{text} ({bit:#x})" for bit, text in BRAKES.items() if reasons & bit)
    marks = [f"the clock is held down now by {brakes}: times are not those of this GPU"] if brakes else []
    if pids:
        who = ", ".join(map(named, pids))
        marks.append(f"others compute on the GPU: process {who}; `tune run` measures nothing until they end")
    if found["persistence"] == 0:
        marks.append("persistence mode is off: keep /dev/nvidia0 open for the whole call")
    said = "; ".join(marks) or f"{found['sm_mhz']} MHz, and nobody else computes"
    return {"state": "marked" if marks else "passed", "said": said, **found}


def named(pid):
    with contextlib.suppress(OSError):
        return f"{pid} ({pathlib.Path(f'/proc/{pid}/comm').read_text().strip()})"
    return f"{pid} (outside of this container)"


def check_cache(given):
    folder = pathlib.Path(given["folder"])
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as why:
        raise Refused(f"{folder} cannot be written ({why.strerror})") from why
    for place in filter(pathlib.Path.exists, [folder, folder / "artifacts"]):
        about = place.stat()
        if about.st_uid != os.geteuid() or about.st_mode & 0o022:
            owner = f"user {about.st_uid} with mode {about.st_mode & 0o777:o}"
            raise Refused(f"{place} belongs to {owner}: others could write to it")
    return {"state": "passed", "said": f"{folder} can be written"}


def check_room(_):
    sizes = dict(line.split(":") for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
    memory, cores = int(sizes["MemTotal"].split()[0]) >> 20, len(os.sched_getaffinity(0))
    disk = shutil.disk_usage(tempfile.gettempdir()).free >> 30
    said = f"{cores} cores, {memory} GiB of memory, {disk} GiB of disk for temporary files"
    return {"state": "marked" if memory < 8 or disk < 2 else "passed", "said": said}


def child(name, given):
    """Runs one check and prints its result."""
    try:
        result = globals()[f"check_{name}"](given)
    except (Refused, OSError, AttributeError) as why:
        result = {"state": "failed", "said": str(why)}
    if name == "driver":
        # The file that the loader took.
        loaded = re.findall(r"/\S*libcuda\.so\S*", pathlib.Path("/proc/self/maps").read_text())
        result["file"] = loaded[0] if loaded else ""
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(child(sys.argv[1], json.loads(sys.argv[2])))
