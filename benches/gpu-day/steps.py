"""The one list of steps, most valuable first, with the seconds that each may take. A call takes as many as fit; what an earlier call has
passed comes last, so that the next call goes on where the last one stopped."""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import sys
import typing

from recorder import WORK, Recorder

# Kernel and problem, as `tune list` prints them: what a GPU tunes, the most valuable first.
GPU_TUNED = [
    ("gemm_f16", "T=f16,m=4096,n=4096,k=4096"),
    ("flash_attention", "heads=32,seq=4096,dim=128,causal=2"),
    ("softmax", "T=f32,rows=8192,cols=4096"),
    ("layer_norm", "T=f16,rows=8192,cols=4096"),
    ("transpose", "T=f32,rows=8192,cols=6144"),
    ("gemm", "m=4096,n=4096,k=4096"),
    ("conv3x3", "T=f16,images=8,height=128,width=128,channels=128,filters=128"),
    ("reduce", "T=f32,rows=8192,cols=8192,operation=1"),
    ("rms_norm", "T=f16,rows=8192,cols=4096"),
    ("gelu", "T=f16,n=33554432,form=2"),
]
CPU_TUNED = [
    ("softmax", "T=f32,rows=1024,cols=2048"),
    ("gemm", "m=64,n=64,k=64"),
    ("tensor_add", "T=f32,n=1048576"),
    ("layer_norm", "T=f32,rows=1024,cols=1024"),
    ("reduce", "T=f32,rows=1024,cols=2048,operation=1"),
    ("transpose", "T=f32,rows=2048,cols=2048"),
    ("gelu", "T=f32,n=1048576,form=2"),
]
# After this number of rows, other evidence is worth more than the next row.
FIRST_ROWS = 4
NEXT_ROWS = 2
# Of a rehearsal.
QUICK_ROWS = 1
# Kernels whose times are compared with themselves: about 130, 5 and 1000 us on an H100.
AGAINST_ITSELF = {
    "gpu": [("tensor_add", "T=f32,n=33554432"), ("softmax", "T=f16,rows=8192,cols=4096"), ("gemm", "m=2048,n=2048,k=2048")],
    "cpu": [("tensor_add", "T=f32,n=1048576")],
}
# Launches whose counters are compared with those of simulated GPUs: small enough for a simulator to run all of their blocks.
COUNTED = [
    ("transpose", "T=f32,rows=2048,cols=2048"),
    ("reduce", "T=f32,rows=1024,cols=2048,operation=1"),
    ("softmax", "T=f32,rows=1024,cols=2048"),
    ("tensor_add", "T=f32,n=1048576"),
    ("layer_norm", "T=f32,rows=1024,cols=1024"),
    ("gemm", "m=64,n=64,k=64"),
]
COUNTERS = [
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "smsp__inst_executed.sum",
]
SANITIZED = [("gemm_f16", "T=f16,m=64,n=64,k=64"), ("reduce", "T=f32,rows=1024,cols=2048,operation=1")]
QUICK_TESTS = {
    "library": ["is_right::tensor_add", "tiles::constant_tiles_blend_into_exactly_that_constant"],
    "device_prelude": ["on_device::dynamic_shared_memory_is_one_array_for_all_threads"],
}
# What has never run on a GPU comes first.
CARRIED_TESTS = {
    "library": ["is_right::gemm_f16", "is_right::flash_attention", "is_right::conv3x3", "is_right::", "tiles::"],
    "device_prelude": ["on_device::"],
}
CONFORMANCE = {"cpu": "the_cpu_device_conforms", "cuda": "an_nvidia_gpu_conforms", "hip": "an_amd_gpu_conforms"}


@dataclasses.dataclass
class Place:
    """Where a call runs."""

    root: pathlib.Path
    out: pathlib.Path
    device: str
    quick: bool
    # The results of an earlier call.
    have: typing.Optional[pathlib.Path] = None

    @property
    def backend(self):
        return self.device.split(":")[0]

    @property
    def tuned(self):
        problems = CPU_TUNED if self.backend == "cpu" else GPU_TUNED
        return problems[:QUICK_ROWS] if self.quick else problems

    def limit(self, seconds, budget_seconds):
        """The limit of a step, and the budget of what it runs. In a rehearsal little work decides when it ends, not time."""
        if self.quick:
            seconds, budget_seconds = 100, 90
        return seconds, f"{budget_seconds}s"

    def program(self, name):
        return str(self.root / "bin" / name)

    def script(self, name, python=sys.executable):
        return [python, str(self.root / "day" / name)]

    def tune(self, command, *words):
        """`tune` on this day's own copy of the kernels, which needs no cargo."""
        carried = ["--cargo-metadata", str(self.out / WORK / "cargo-metadata.json"), "--package", "kiln-kernels"]
        return [self.program("tune"), command, *carried, *words]

    def on(self, *pairs):
        """The words that choose these kernels and problems on the device."""
        kernels = ",".join(dict.fromkeys(kernel for kernel, _ in pairs))
        problems = [word for _, problem in pairs for word in ("--problem", problem)]
        return ["--kernel", kernels, *problems, "--device", self.device]

    def passed_before(self):
        """The names of the steps that passed in the earlier call, in their order."""
        names = []
        if self.have:
            with contextlib.suppress(OSError):
                for line in (self.have / "results.jsonl").read_text().splitlines():
                    with contextlib.suppress(ValueError, KeyError):
                        step = json.loads(line)
                        names += [step["step"]] if step["state"] == "passed" else []
        return names


@dataclasses.dataclass
class Step:
    """One command."""

    name: str
    seconds: int
    command: list
    ending: str = "txt"
    # It is not begun with less time.
    least: int = 5
    environment: dict = dataclasses.field(default_factory=dict)
    # Why it cannot run here.
    missing: str = ""
    # The kernel that it times, which must be right.
    kernel: str = ""
    # Whether it runs in every call.
    always: bool = False
    # Whether it runs while others do.
    aside: bool = False
    # Whether its exit code 3 ends the call.
    can_end: bool = False
    after: typing.Callable = None

    def obstacle(self, out):
        """Why the step would be worth nothing after what the call has found so far."""
        wrong = wrong_kernels(out) if self.kernel else {}
        return f"{self.kernel} is wrong here: {wrong[self.kernel]}" if self.kernel in wrong else ""


def wrong_kernels(out):
    """The kernels that failed a test of the library, each with the test."""
    wrong = {}
    for path in out.glob("*/library.jsonl"):
        for line in path.read_text().splitlines():
            with contextlib.suppress(ValueError, KeyError):
                test = json.loads(line)
                if test["state"] == "failed" and test["test"].startswith("is_right::"):
                    wrong[test["test"].removeprefix("is_right::")] = test["test"]
    return wrong


def of_call(place):
    """All steps for a call, in their order; the last one closes every call."""
    *steps, last = all_steps(place)
    known = place.passed_before()
    again = [step for step in steps if step.name in known and not step.always]
    new = [step for step in steps if step not in again]
    # A rehearsal repeats nothing.
    return [*new, last] if place.quick else [*new, *again, last]


def that_fit(steps, seconds):
    """The steps that end within these seconds if each takes its limit."""
    fit = []
    for step in steps:
        if step.aside or step.seconds <= seconds:
            fit.append(step)
            seconds -= 0 if step.aside else step.seconds
    return fit


def all_steps(place):
    gate = [*place.script("gate.py"), "--root", str(place.root), "--device", place.device, "--seconds", "60"]
    gate += ["--have", str(place.have)] if place.have else []
    yield Step("gate", 62, gate, "json", always=True, can_end=True, after=Recorder.know_gate)
    yield Step("facts", 40, place.script("facts.py"), "json", always=True, aside=True, after=Recorder.know_facts)
    yield from truth(place)
    yield from honesty(place)
    rows = [row(place, *pair) for pair in place.tuned]
    yield from rows[:FIRST_ROWS]
    yield from again(place)
    yield from rows[FIRST_ROWS : FIRST_ROWS + NEXT_ROWS]
    yield from vendor(place)
    yield outputs(place)
    yield counters(place)
    yield from rows[FIRST_ROWS + NEXT_ROWS :]
    yield from sanitizers(place)
    yield Step("cache", 10, [place.program("tune"), "cache", "export"], "json", always=True, least=1)


def truth(place):
    """Whether what runs on the device is right."""
    conformance = [place.program("conformance"), CONFORMANCE[place.backend], "--exact", "--nocapture"]
    yield Step("conformance", 70, conformance, least=15)
    yield tests(place, "library", 90)
    yield tests(place, "device_prelude", 45)


def tests(place, program, seconds):
    """Every test of a program that was carried, each in a process of its own: one that breaks the device breaks no other."""
    names = (QUICK_TESTS if place.quick else CARRIED_TESTS)[program]
    limit = str(seconds - 3)
    earlier = sorted(place.have.glob(f"*/{program}.jsonl")) if place.have else []
    known = [word for file in earlier for word in ("--have", str(file))]
    command = [*place.script("each_test.py"), "--seconds", limit, *known, place.program(program), *names]
    return Step(program, seconds, command, "jsonl", least=20)


def honesty(place):
    """Whether kernels are as fast as themselves, and how fast the device can be."""
    pairs = AGAINST_ITSELF["cpu" if place.backend == "cpu" else "gpu"]
    saved = str(place.out / "itself.json")
    seconds, budget = place.limit(22, 18)
    yield Step("itself-save", seconds, place.tune("bench", *place.on(*pairs), "--budget", budget, "--save", saved), least=12)
    seconds, budget = place.limit(34, 30)
    problems = [word for _, problem in pairs for word in ("--problem", problem)]
    words = [*problems, "--device", place.device, "--budget", budget, "--fail-above", "5%", "--json"]
    kernels = ",".join(kernel for kernel, _ in pairs)
    yield Step("itself-compare", seconds, [*place.script("itself.py"), place.program("tune"), str(place.out / WORK), kernels, saved, *words], "json", least=15)
    missing = without_torch() if place.backend == "cuda" else "ceilings are those of CUDA devices"
    yield Step("ceilings", 25, place.script("ceilings.py", pytorch()), "json", missing=missing, least=10)


def row(place, kernel, problem):
    """One problem at a time: with fewer claims, each needs less proof."""
    seconds, budget = place.limit(50, 44)
    few = ["--trials", "8"] if place.quick else []
    command = place.tune("run", *place.on((kernel, problem)), "--budget", budget, "--write", "--json", *few)
    # Check builds run on the processor, and were run at home.
    environment = {} if place.backend == "cpu" else {"KILN_CXX": "none"}
    return Step(f"tune-{kernel}", seconds, command, "json", kernel=kernel, environment=environment, least=25)


def again(place):
    """A row of the earlier call timed again, perhaps on another machine of the kind."""
    known = place.passed_before()
    rows = [pair for pair in place.tuned if f"tune-{pair[0]}" in known]
    if rows:
        seconds, budget = place.limit(16, 12)
        command = place.tune("bench", *place.on(rows[0]), "--budget", budget, "--json-lines")
        yield Step("again", seconds, command, "jsonl", kernel=rows[0][0], least=12)


def vendor(place):
    """The tuned kernels and what people use today, in the same call."""
    seconds, budget = place.limit(45, 40)
    yield Step("bench", seconds, place.tune("bench", *place.on(*place.tuned), "--budget", budget, "--json-lines"), "jsonl", least=20)
    words = [word for pair in place.tuned for word in pair]
    command = [*place.script("vendor.py", pytorch()), "cpu" if place.backend == "cpu" else "cuda", *words]
    yield Step("vendor", 45, command, "jsonl", missing=without_torch(), least=15)
    cublas = place.root / "bin" / "kiln-cublas-peer"
    missing = "" if place.backend == "cuda" and cublas.exists() else "there is no cuBLAS peer for this device"
    seconds, budget = place.limit(45, 40)
    pairs = [pair for pair in place.tuned if pair[0] in ("gemm", "gemm_f16")]
    command = place.tune("bench", *place.on(*pairs), "--budget", budget, "--json-lines", "--peer", with_cublas(cublas))
    yield Step("cublas", seconds, command, "jsonl", missing=missing, least=25)


def outputs(place):
    """Hashes of what kernels compute. At home they are compared with those of a simulated GPU, bit for bit."""
    pairs = [COUNTED[-1]] if place.quick else [*COUNTED, *SANITIZED, *place.tuned]
    seconds, _ = place.limit(40, 0)
    return Step("outputs", seconds, place.tune("smoke", *place.on(*dict.fromkeys(pairs)), "--json-lines"), "jsonl", least=15)


def counters(place):
    """What the GPU counts for launches whose counts a simulated GPU knows."""
    kernels = "regex:.*(" + "|".join(sorted({kernel for kernel, _ in COUNTED})) + ").*"
    command = ["ncu", "--target-processes", "all", "--clock-control", "none", "--csv", "--metrics", ",".join(COUNTERS)]
    command += ["--kernel-name", kernels, *place.tune("smoke", *place.on(*COUNTED))]
    return Step("counters", 35, command, "csv", missing=absent("ncu"), least=15)


def sanitizers(place):
    for tool in ["memcheck", "racecheck"]:
        command = ["compute-sanitizer", "--tool", tool, "--target-processes", "all", "--error-exitcode", "9"]
        command += place.tune("smoke", *place.on(*SANITIZED))
        yield Step(tool, 30, command, missing=absent("compute-sanitizer"), least=15)


def absent(program):
    there = shutil.which(program) or pathlib.Path("/usr/local/cuda/bin", program).exists()
    return "" if there else f"{program} is not here"


def pytorch():
    return os.environ.get("KILN_PYTORCH", sys.executable)


def site_packages():
    """The folders of the packages of PyTorch's Python, asked without importing PyTorch."""
    home = pathlib.Path(pytorch()).parent.parent
    return sorted(home.glob("lib/python3*/site-packages")) + [pathlib.Path(path) for path in sys.path if path.endswith("-packages")]


def without_torch():
    return "" if any((folder / "torch").is_dir() for folder in site_packages()) else "there is no PyTorch"


def with_cublas(program):
    """The command of the cuBLAS peer. The libraries that PyTorch brings are not part of the loader's path."""
    libraries = [str(path) for folder in site_packages() for path in sorted(folder.glob("nvidia/*/lib"))]
    path = ":".join(libraries + list(filter(None, [os.environ.get("LD_LIBRARY_PATH")])))
    return f"LD_LIBRARY_PATH='{path}' '{program}'"
