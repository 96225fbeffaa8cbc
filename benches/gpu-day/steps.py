"""The steps of each part, with the seconds that each may take."""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import typing

from recorder import WORK, Recorder

# Kernel and problem, as `tune list` prints them: what a GPU tunes, the vendor's best cases first.
GPU_TUNED = [
    ("gemm_f16", "T=f16,m=2048,n=2048,k=2048"),
    ("flash_attention", "heads=32,seq=2048,dim=64,causal=2"),
    ("conv3x3", "T=f16,images=8,height=128,width=128,channels=128,filters=128"),
    ("gemm", "m=2048,n=2048,k=2048"),
    ("softmax", "T=f32,rows=8192,cols=4096"),
    ("layer_norm", "T=f16,rows=8192,cols=4096"),
    ("transpose", "T=f32,rows=8192,cols=6144"),
]
CPU_TUNED = [
    ("gemm", "m=64,n=64,k=64"),
    ("softmax", "T=f32,rows=1024,cols=2048"),
    ("tensor_add", "T=f32,n=1048576"),
    ("layer_norm", "T=f32,rows=1024,cols=1024"),
    ("reduce", "T=f32,rows=1024,cols=2048,operation=1"),
    ("transpose", "T=f32,rows=2048,cols=2048"),
    ("gelu", "T=f32,n=1048576,form=2"),
]
# A kernel whose time its memory alone decides.
AGAINST_ITSELF = {"gpu": ("tensor_add", "T=f32,n=33554432"), "cpu": ("tensor_add", "T=f32,n=1048576")}
BESIDE = 6
# Of a rehearsal.
QUICK_PROBLEMS = 2

SANITIZED = ["is_right::reduce", "is_right::gemm_f16"]
QUICK_TESTS = {
    "library": ["is_right::tensor_add", "tiles::constant_tiles_blend_into_exactly_that_constant"],
    "device_prelude": ["on_device::dynamic_shared_memory_is_one_array_for_all_threads"],
}
# Those that need cargo or a particular device stay at home. What has never run on a GPU comes first.
CARRIED_TESTS = {
    "library": ["is_right::gemm_f16", "is_right::flash_attention", "is_right::conv3x3", "is_right::", "tiles::",
                "no_seed_is_refused::", "is_right_at_quoted_sizes::"],
    "device_prelude": ["on_device::"],
}
CONFORMANCE = {"cpu": "the_cpu_device_conforms", "cuda": "an_nvidia_gpu_conforms", "hip": "an_amd_gpu_conforms"}


@dataclasses.dataclass
class Place:
    """Where a part runs."""

    root: pathlib.Path
    out: pathlib.Path
    device: str
    quick: bool

    @property
    def backend(self):
        return self.device.split(":")[0]

    @property
    def tuned(self):
        problems = CPU_TUNED if self.backend == "cpu" else GPU_TUNED
        return problems[:QUICK_PROBLEMS] if self.quick else problems

    def limit(self, seconds, budget_seconds):
        """The limit of a step, and the budget of what it runs. In a rehearsal little work decides when it ends, not time."""
        if self.quick:
            seconds, budget_seconds = 100, 90
        return seconds, f"{budget_seconds}s"

    def program(self, name):
        return str(self.root / "bin" / name)

    def script(self, name):
        return [sys.executable, str(self.root / "day" / name)]

    def tune(self, command, *words):
        """`tune` on this day's own copy of the kernels, which needs no cargo."""
        carried = ["--cargo-metadata", str(self.out / WORK / "cargo-metadata.json"), "--package", "kiln-kernels"]
        return [self.program("tune"), command, *carried, *words]

    def one(self, kernel, problem, *words):
        return ["--kernel", kernel, "--problem", problem, "--device", self.device, *words]


@dataclasses.dataclass
class Step:
    """One command."""

    name: str
    seconds: int
    command: list
    ending: str = "txt"
    environment: dict = dataclasses.field(default_factory=dict)
    # Why it cannot run here.
    missing: str = ""
    after: typing.Callable = None


def of_part(part, place):
    devices = Step("devices", 15, [place.program("tune"), "devices", "--json"], "json", after=Recorder.know_device)
    return [devices, *{1: truth, 2: tuning, 3: beside}[part](place)]


def truth(place):
    """Whether what runs on the device is right."""
    yield Step("facts", 40, [*place.script("facts.py")], "json", after=Recorder.know_facts)
    conformance = [place.program("conformance"), CONFORMANCE[place.backend], "--exact", "--nocapture"]
    yield Step("conformance", 60, conformance)
    yield tests(place, "device_prelude", 80)
    yield tests(place, "library", 140)
    kernels = ["--kernel", "tensor_add"] if place.quick else []
    yield Step("smoke", 80, place.tune("smoke", "--device", place.device, "--json-lines", *kernels), "jsonl")
    missing = "" if shutil.which("compute-sanitizer") else "compute-sanitizer is not here"
    for tool in ["racecheck", "memcheck"]:
        checked = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", place.program("library"), *SANITIZED, "--exact"]
        yield Step(tool, 30, checked, missing=missing)
    missing = "" if place.backend == "cuda" else "ceilings are those of CUDA devices"
    yield Step("ceilings", 30, [pytorch(), str(place.root / "day" / "ceilings.py")], "json", missing=missing)


def tests(place, program, seconds):
    """Every test of a program that was carried, each in a process of its own: one that breaks the device breaks no other."""
    names = (QUICK_TESTS if place.quick else CARRIED_TESTS)[program]
    limit = str(seconds - 5)
    return Step(program, seconds, [*place.script("each_test.py"), "--seconds", limit, place.program(program), *names], "jsonl")


def tuning(place):
    """Whether a kernel is as fast as itself; then what tuning gives."""
    kernel, problem = AGAINST_ITSELF["cpu" if place.backend == "cpu" else "gpu"]
    saved = str(place.out / "part2" / "itself.json")
    seconds, budget = place.limit(30, 25)
    yield Step("itself-save", seconds, place.tune("bench", *place.one(kernel, problem, "--budget", budget, "--save", saved)))
    seconds, budget = place.limit(45, 30)
    words = ["--problem", problem, "--device", place.device, "--budget", budget, "--fail-above", "5%", "--json"]
    against = [*place.script("itself.py"), str(place.root), kernel, saved, *words]
    yield Step("itself-compare", seconds, against, "json")
    # One at a time: among fewer claims each needs less proof.
    seconds, budget = place.limit(56, 46)
    few = ["--trials", "8"] if place.quick else []
    for kernel, problem in place.tuned:
        tuned = place.tune("run", *place.one(kernel, problem, "--budget", budget, "--write", "--json", *few))
        yield Step(f"tune-{kernel}", seconds, tuned, "json")
    yield Step("cache", 20, [place.program("tune"), "cache", "export"], "json")


def beside(place):
    """Kernels beside what people use today."""
    peers, missing = list(find_peers(place)), ""
    if not peers:
        missing = "there is no PyTorch, cuBLAS or C compiler to compare with"
    words = [word for peer in peers for word in ("--peer", peer)]
    seconds, budget = place.limit(68, 58)
    for kernel, problem in place.tuned[:BESIDE]:
        bench = place.tune("bench", *place.one(kernel, problem, "--budget", budget, "--json-lines", *words))
        yield Step(f"beside-{kernel}", seconds, bench, "jsonl", missing=missing)
    kernels = ",".join(kernel for kernel, _ in place.tuned[:BESIDE])
    problems = [word for _, problem in place.tuned[:BESIDE] for word in ("--problem", problem)]
    saved = str(place.out / "part3" / "kernels.json.gz")
    seconds, budget = place.limit(50, 40)
    kept = ["--kernel", kernels, *problems, "--device", place.device, "--budget", budget, "--json-lines", "--save", saved]
    yield Step("save", seconds, place.tune("bench", *kept), "jsonl")


def pytorch():
    return os.environ.get("KILN_PYTORCH", sys.executable)


def find_peers(place):
    """The commands of the peers that are here; asking PyTorch takes some seconds."""
    folder = place.root / "benches" / "peers" / "kernels"
    gpu = place.backend != "cpu"
    ask = "import json, site, sys, torch; assert torch.cuda.is_available() or not int(sys.argv[1]); print(json.dumps(site.getsitepackages()))"
    packages = []
    try:
        answer = subprocess.run([pytorch(), "-c", ask, str(int(gpu))], capture_output=True, text=True, timeout=30)
        if answer.returncode == 0:
            packages = json.loads(answer.stdout)
            yield f"'{pytorch()}' '{folder / 'torch_peer.py'}' {'cuda' if gpu else 'cpu'}"
    except (OSError, ValueError, subprocess.TimeoutExpired):
        pass
    cublas = place.root / "bin" / "kiln-cublas-peer"
    if place.backend == "cuda" and cublas.exists():
        # The libraries that PyTorch brings are not part of the loader's path.
        libraries = [str(path) for package in packages for path in sorted(pathlib.Path(package).glob("nvidia/*/lib"))]
        path = ":".join(libraries + list(filter(None, [os.environ.get("LD_LIBRARY_PATH")])))
        yield f"LD_LIBRARY_PATH='{path}' '{cublas}'"
    if not gpu and any(map(shutil.which, filter(None, [os.environ.get("CC"), "cc", "gcc", "clang"]))):
        yield f"'{sys.executable}' '{folder / 'c_peer.py'}'"
