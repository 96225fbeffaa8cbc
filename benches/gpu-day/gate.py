#!/usr/bin/env python3
"""The gate of a GPU day: says within a minute whether anything can work on this machine, and chooses what to use.

    gate.py --root DIR --device cuda:0|hip:0|cpu --seconds 60

Prints one JSON object: `chosen` has environment variables for all later programs, `why` is empty or the line that says
why the day cannot go on, `key` and `compiler` are those of the device. Each of `checks` is passed, failed, or marked:
then the day goes on, and the results need a remark. Exit code: 0 if the day can go on, 3 otherwise.

Everything that calls a driver runs in a process of its own with a time limit (`gate_checks.py`, `tune`): a call into a
broken driver may never return.
"""

import argparse
import contextlib
import ctypes
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from gate_nvrtc import BUNDLES_HEADERS, header_folders, merged_nvrtc, missing_headers, newest_nvrtc

DRIVER = "libcuda.so.1"
# Where containers put a driver that the loader does not know.
DRIVER_FOLDERS = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/local/cuda/compat",
]
# Where the packages of a Python are.
PACKAGES = """import json, site, sys
print(json.dumps([sys.prefix, *site.getsitepackages(), site.getusersitepackages()]))"""
# A process that opens the GPU takes less if the driver stays initialised.
SLOW_START_SECONDS = 1.5
# Time for the end of what hangs, and for the report.
MARGIN_SECONDS = 2
# Checks after whose failure nothing can work. If another one fails, that is a remark, with what it means.
FATAL = ("driver", "device", "compiler", "cubins", "shared")
MEANS = {
    "graph": "kernels are timed without recordings, so that short ones look slower than they are",
    "guards": "tests find writes outside of buffers by zones of known bytes instead of unmapped addresses",
    "clocks": "nobody says whether the GPU is throttled and who else computes on it: look at nvidia-smi",
    "cache": "kernels are compiled anew in every process: chmod -R go-w the folder and chown it to this user",
}


def hold_driver(seconds=10):
    """Opens a device file of the driver; None if there is none. The driver keeps the GPU initialised while the file is
    open. Otherwise it shuts the GPU down after the last process that uses it, and the next one waits for seconds."""
    held = []

    def hold():
        for path in sorted(glob.glob("/dev/nvidia[0-9]*")):
            with contextlib.suppress(OSError):
                held.append(open(path, "rb", buffering=0))
                return

    # A broken driver may not come back from this either.
    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    thread.join(seconds)
    return held[0] if held else None


class Closed(Exception):
    """The day cannot go on; the text says why, in one line."""


class Ran:
    """What a command did: its exit code (None if it did not start or did not end), its output, and its seconds."""

    def __init__(self, code, said, complaints, seconds):
        self.code, self.said, self.complaints, self.seconds = code, said, complaints, seconds

    def trouble(self):
        lines = self.complaints.strip().splitlines()
        said = f": {lines[-1]}" if lines else ""
        if self.code is None:
            return said.removeprefix(": ")
        by = f"by signal {-self.code}" if self.code < 0 else f"with exit code {self.code}"
        return f"it ended {by}{said}"


def in_own_group(libc=ctypes.CDLL(None)):
    """A child can be ended with all that it started, and ends with the gate (PR_SET_PDEATHSIG)."""
    os.setpgid(0, 0)
    libc.prctl(1, signal.SIGKILL)


def first_line(text):
    return (text.strip().splitlines() or [""])[0]


class Gate:
    def __init__(self, root, device, seconds, have=None):
        self.root, self.device, self.backend = root, device, device.split(":")[0]
        self.have = have or root / "have"
        self.end = time.monotonic() + seconds - MARGIN_SECONDS
        # The limits of the checks are those of a gate of one minute.
        self.scale = max(1, seconds / 60)
        self.environment, self.chosen, self.checks = dict(os.environ), {}, []
        self.given = {"number": int((device.split(":") + ["0"])[1])}
        self.key, self.compiler, self.noted = "", "", time.monotonic()

    def run(self, command, most, **variables):
        """Runs a command for at most `most` seconds, if the gate has a minute. Its output goes into memory: the disk may
        be full, and a pipe could be held open by what the command started."""
        begun = time.monotonic()
        limit = min(most * self.scale, self.end - begun)
        if limit <= 0:
            return Ran(None, "", "no time was left", 0)
        with contextlib.ExitStack() as stack:
            said, complaints = (stack.enter_context(os.fdopen(os.memfd_create("output"), "w+b")) for _ in range(2))
            how = {"stdin": subprocess.DEVNULL, "stdout": said, "stderr": complaints, "preexec_fn": in_own_group}
            try:
                process = subprocess.Popen(command, env={**self.environment, **variables}, **how)
            except OSError as error:
                return Ran(None, "", str(error), 0)
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                complaints.write(f"\nit did not end within {limit:.0f} s".encode())
                code = None
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    # In the middle of a call of a driver, not even this ends it.
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(1)
            texts = []
            for file in (said, complaints):
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
            return Ran(code, *texts, time.monotonic() - begun)

    def ask(self, name, most, given=None, **variables):
        """The result of a check in a process of its own."""
        program = str(pathlib.Path(__file__).with_name("gate_checks.py"))
        ran = self.run([sys.executable, program, name, json.dumps({**self.given, **(given or {})})], most, **variables)
        try:
            return {**json.loads(ran.said), "seconds": round(ran.seconds, 2)}
        except ValueError:
            return {"state": "failed", "said": ran.trouble(), "seconds": round(ran.seconds, 2)}

    def note(self, name, state, said, seconds=None, **more):
        """Keeps what a check found. The failure of a check without which nothing works ends the gate."""
        begun, self.noted = self.noted, time.monotonic()
        seconds = self.noted - begun if seconds is None else seconds
        said = " ".join(said.split())
        if state == "failed" and name not in FATAL:
            state, said = "marked", f"{said}: {MEANS[name]}" if name in MEANS else said
        self.checks.append({"name": name, "state": state, "seconds": round(seconds, 2), "said": said, **more})
        if state == "failed":
            raise Closed(f"{name}: {said}")
        return state

    def choose(self, name, value):
        self.chosen[name] = self.environment[name] = value

    def check(self, name, most, given=None):
        result = self.ask(name, most, given)
        self.note(name, **result)
        return result

    def all(self):
        if self.backend != "cuda":
            self.device_and_compiler([None])
            return
        self.held = hold_driver()
        said = f"{self.held.name} is open" if self.held else "there is no /dev/nvidia0 that could be kept open"
        self.note("keep", "passed" if self.held else "marked", said)
        self.driver()
        place, version = self.device_and_compiler(self.nvrtcs())
        self.headers(place, version)
        cubins = sorted(map(str, (self.root / "probe").glob("*.cubin")))
        if cubins:
            one = {"cubin": self.check("cubins", 15, {"cubins": cubins})["loaded"][0]}
            self.check("shared", 15, one)
            self.check("graph", 15, one)
        else:
            self.note("cubins", "marked", f"there is no cubin in {self.root / 'probe'}, so no kernel was launched")
        self.check("guards", 10)
        self.check("clocks", 10)
        if self.environment.get("KILN_CACHE"):
            self.check("cache", 5, {"folder": self.environment["KILN_CACHE"]})
        self.check("room", 5)
        self.same()

    def drivers(self):
        """Every libcuda that could be used. The first is the one that the loader takes."""
        folders = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
        in_each = lambda folders: [file for folder in folders if os.path.exists(file := f"{folder}/{DRIVER}")]
        return [*in_each(folders), DRIVER, *in_each(DRIVER_FOLDERS)]

    def driver(self):
        refused, tried = [], set()
        for file in self.drivers():
            if os.path.realpath(file) in tried:
                continue
            # Without its variable, the loader takes what the machine has.
            found = self.ask("driver", 25, {"file": file}, **({"LD_LIBRARY_PATH": ""} if file == DRIVER else {}))
            tried.add(os.path.realpath(found.get("file") or file))
            if found["state"] == "passed":
                break
            if found.get("file") or file != DRIVER:
                refused.append(f"{file}: {found['said']}")
        else:
            nowhere = f"there is no {DRIVER} in the loader's folders and in {', '.join(DRIVER_FOLDERS)}"
            self.note("driver", "failed", "; ".join(refused) or nowhere)
        folder = os.path.dirname(found["file"] if file == DRIVER else file)
        if refused:
            before = os.environ.get("LD_LIBRARY_PATH")
            self.choose("LD_LIBRARY_PATH", ":".join(filter(None, [folder, before])))
        self.given |= {"file": found["file"], "uuid": found.get("uuid", "")}
        self.cuda = found["version"] // 1000
        again = self.ask("driver", 20)
        if again["state"] != "passed":
            self.note("driver", "failed", f"only the first process could open the GPU: {again['said']}")
        marks = [f"{'; '.join(refused)}; therefore {folder} comes first in LD_LIBRARY_PATH"] if refused else []
        if again["seconds"] > SLOW_START_SECONDS:
            marks.append(f"each process that opens the GPU takes {again['seconds']} s: start few processes")
        starts = {"starts": [found["seconds"], again["seconds"]], "start_seconds": again["seconds"]}
        more = {key: value for key, value in found.items() if key not in ("state", "said", "seconds")} | starts
        said = "; ".join([found["said"], *marks])
        self.note("driver", "marked" if marks else "passed", said, **more)

    def nvrtcs(self):
        """Values of KILN_NVRTC, the best first. With the last one, which is empty, Kiln searches itself."""
        given = os.environ.get("KILN_NVRTC", "")
        places = [given]
        for python in dict.fromkeys([os.environ.get("KILN_PYTORCH"), shutil.which("python3"), sys.executable]):
            with contextlib.suppress(ValueError):
                places += json.loads(self.run([python, "-c", PACKAGES], 5).said) if python else []
        nvcc = shutil.which("nvcc")
        places += [str(pathlib.Path(nvcc).resolve().parent.parent)] if nvcc else []
        places += ["/usr/local/cuda", *sorted(glob.glob("/usr/local/cuda-*"), reverse=True), str(self.root / "nvrtc")]
        return [*dict.fromkeys(place for place in places if place and (place == given or newest_nvrtc(place))), ""]

    def listed(self, place):
        """The device as `tune devices` lists it, or None with the reason. NVRTC is at a place, unless that is None."""
        variables = {} if place is None else {"KILN_NVRTC": place}
        ran = self.run([str(self.root / "bin" / "tune"), "devices", "--json"], 20, **variables)
        try:
            listing = json.loads(ran.said)
        except ValueError:
            return None, f"bin/tune devices: {ran.trouble()}"
        known = {device["name"]: device for device in listing["devices"]}
        if self.device not in known:
            missing = listing["missing"]
            why = missing.get(self.device) or missing.get(self.backend) or f"it lists only {', '.join(known)}"
            self.note("device", "failed", f"bin/tune does not find {self.device}: {why}", ran.seconds)
        if not self.key:
            self.key = known[self.device]["key"]
            self.note("device", "passed", self.key, ran.seconds)
        return known[self.device], ""

    def device_and_compiler(self, places):
        """The first place with which the device has a compiler, and the compiler's version."""
        refused = []
        for place in places:
            device, why = self.listed(place)
            compiler = device["compiler"] if device else {"Err": why}
            if "Ok" in compiler or (device and self.backend == "cpu"):
                break
            refused.append(f"{place}: {first_line(compiler['Err'])}" if place else first_line(compiler["Err"]))
        else:
            if self.key and self.backend == "cuda":
                look = "look for one with `find / -name 'libnvrtc.so*'`"
                refused.append(f"{look}, and put KILN_NVRTC=FOLDER, with its folder or its toolkit, in front of ./run.sh")
            self.note("compiler" if self.key else "device", "failed", "; ".join(refused))
        self.compiler = compiler.get("Ok") or first_line(compiler["Err"])
        version = tuple(int(part) for part in re.findall(r"\d+", self.compiler)[:2])
        said = self.compiler + (f" at {place}" if place else "")
        older = self.backend == "cuda" and version[0] < self.cuda
        if older:
            said += f": it is older than the driver, of CUDA {self.cuda}, and uses no images of another NVRTC"
        if place is not None:
            self.choose("KILN_NVRTC", place)
        state = "marked" if older or "Ok" not in compiler else "passed"
        self.note("compiler", state, said, version=version, refused=refused)
        return place, version

    def headers(self, place, version):
        file, carried = newest_nvrtc(place) if place else None, self.root / "headers" / "include"
        if version >= BUNDLES_HEADERS or not file:
            said = "NVRTC contains the headers" if file else "the loader found NVRTC: nobody looked for its headers"
            self.note("headers", "passed" if version >= BUNDLES_HEADERS else "marked", said)
            return
        folders = header_folders(file)
        missing, merged = missing_headers(folders), ""
        if missing and carried.is_dir() and version[0] == BUNDLES_HEADERS[0]:
            with contextlib.suppress(OSError):
                home = merged_nvrtc(file, [*folders, carried])
                device, _ = self.listed(str(home))
                if device and "Ok" in device["compiler"]:
                    self.choose("KILN_NVRTC", str(home))
                    merged = f" in {home}, with those of {carried}"
                    missing = missing_headers([home / "nvidia/cu13/include"])
        said = f"all are there{merged}"
        if missing:
            lacks = f"NVRTC lacks {', '.join(missing)}{merged}"
            said = f"{lacks}: kernels that include them do not compile; carry them in {carried}"
        self.note("headers", "marked" if missing else "passed", said)

    def same(self):
        """Whether the results of an earlier call are of this kind of GPU."""
        manifest = self.have / "manifest.json"
        if not manifest.exists():
            return
        try:
            before = json.loads(manifest.read_text())["device"]["key"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.note("same", "marked", f"{manifest} cannot be read: {error!r}")
            return
        there, here = (key.split("/")[-1] for key in (before, self.key))
        if before == self.key:
            self.note("same", "passed", f"the earlier results are of {before}, too")
            return
        rows = f"rows of an {there} are not those of an {here}"
        self.note("same", "marked", f"the earlier results are of {before} and this is {self.key}: {rows}")

    def report(self, why):
        about = {"chosen": self.chosen, "why": " ".join(why.split()), "key": self.key, "compiler": self.compiler}
        return json.dumps({**about, "checks": self.checks}, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, required=True, help="the folder of the day, with bin/tune")
    parser.add_argument("--device", required=True)
    parser.add_argument("--have", type=pathlib.Path, help="the results of an earlier call (default: have/ in the folder of the day)")
    parser.add_argument("--seconds", type=float, default=60)
    asked = parser.parse_args()
    gate = Gate(asked.root.resolve(), asked.device, asked.seconds, asked.have)
    signals = [signal.SIGTERM, signal.SIGINT, signal.SIGALRM]

    def cut(number, _):
        raise Closed(f"the gate was cut off by {signal.Signals(number).name} after {len(gate.checks)} checks")

    for number in signals:
        signal.signal(number, cut)
    # For what hangs in the gate itself.
    signal.setitimer(signal.ITIMER_REAL, max(asked.seconds - 0.5, 0.1))
    why = ""
    try:
        gate.all()
    except Closed as closed:
        why = str(closed)
    except Exception as error:
        # A fault of the gate ends no day on which kernels can be compiled.
        said = f"the gate itself failed: {error!r}"
        gate.note("gate", "marked", said)
        why = "" if gate.compiler else said
    for number in signals:
        signal.signal(number, signal.SIG_IGN)
    print(gate.report(why), flush=True)
    return 3 if why else 0


if __name__ == "__main__":
    sys.exit(main())
