"""Runs steps and keeps what they print: a file of raw output each, results.jsonl with a line each, and manifest.json. One archive with
all of it is written anew after each step and every few seconds while a step runs, so that a call that is cut short can be imported."""

import contextlib
import datetime
import hashlib
import io
import json
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys
import tarfile
import threading
import time

SCHEMA = 2
# How long a step that is cut off may take to end.
GRACE_SECONDS = 3
# Time between two archives while a step runs.
PACK_SECONDS = 10
# A day's own copy of the kernels: rows are written into it, and the folder that was carried stays as it was built.
WORK = "work"


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def write_whole(path, content):
    """Readers see the file as it was before or as it is now, and nothing in between."""
    half = path.with_name(path.name + ".part")
    half.write_bytes(content)
    os.replace(half, path)


def tables(folder):
    """The hashes of the tables in a folder."""
    return {table.name: sha256(table.read_bytes()) for table in sorted(folder.glob("*.toml"))}


class Recorder:
    def __init__(self, place, environment, pack=None):
        self.place, self.out, self.environment, self.pack = place, place.out, environment, pack
        self.lock = threading.RLock()
        self.out.mkdir(parents=True, exist_ok=True)
        built = json.loads((place.root / "day.json").read_text())
        self.manifest_path = self.out / "manifest.json"
        self.manifest = {
            "schema": SCHEMA,
            "kiln": built["kiln"],
            "commit": built["commit"],
            "tables": built["tables"],
            "device": {"name": place.device, "key": ""},
            "date": now()[:10],
            "quick": place.quick,
            "versions": {"python": platform.python_version(), "system": platform.platform()},
            "calls": {},
            "files": {},
        }
        self.go_on()
        self.copy_kernels()
        # The tables with which this machine begins: those that were carried, with the rows of an earlier call.
        self.manifest.setdefault("started", tables(self.tuned()))
        self.write_manifest()
        threading.Thread(target=self.keep_packing, daemon=True).start()

    def tuned(self):
        return self.out / WORK / "kernels" / "tuned"

    def copy_kernels(self):
        if (self.out / WORK).exists():
            return
        half = self.out / f"{WORK}.part"
        shutil.rmtree(half, ignore_errors=True)
        shutil.copytree(self.place.root / "kernels", half / "kernels")
        shutil.copy(self.place.root / "cargo-metadata.json", half)
        if self.place.have:
            for table in (self.place.have / "tuned").glob("*.toml"):
                shutil.copy(table, half / "kernels" / "tuned")
        half.rename(self.out / WORK)

    def go_on(self):
        """Calls of one day share a folder; results of another device or another Kiln do not belong together."""
        if not self.manifest_path.exists():
            return
        before = json.loads(self.manifest_path.read_text())
        for what in ["schema", "kiln", "commit", "quick"]:
            if before[what] != self.manifest[what]:
                self.refuse(what, before[what], self.manifest[what])
        if before["device"]["name"] != self.manifest["device"]["name"]:
            self.refuse("device", before["device"]["name"], self.manifest["device"]["name"])
        self.manifest = before
        # Half a line, of a call that was cut while it wrote.
        lines, known = self.out / "results.jsonl", before["files"].get("results.jsonl")
        if lines.exists():
            os.truncate(lines, known["bytes"] if known else 0)

    def refuse(self, what, before, here):
        raise SystemExit(f"{self.out} holds results of another run: {what} is {before} there and {here} here\nhelp: --out another folder")

    def run(self, call, step, left_seconds):
        """Runs a step. Returns its exit code, and its state."""
        name = f"{call}/{step.name}.{step.ending}"
        path = self.out / name
        with self.lock:
            self.manifest["calls"][call] = "not finished"
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
        start = time.monotonic()
        limit = min(step.seconds, left_seconds - GRACE_SECONDS)
        missing = step.missing or step.obstacle(self.out)
        if missing:
            code, state = None, "skipped"
            path.write_text(missing + "\n")
        elif limit < step.least:
            code, state = None, "no time"
            path.write_text(f"{max(limit, 0):.0f} s were left, and it needs {step.least} s\n")
        else:
            print(f"{call}, {step.name} (at most {limit:.0f} s)", flush=True)
            code, state = self.run_process(step, path, limit)
        self.record(call, step, path, code, state, time.monotonic() - start)
        return code, state

    def record(self, call, step, path, code, state, seconds):
        line = {"call": call, "step": step.name, "command": shlex.join(step.command), "exit": code}
        line |= {"state": state, "seconds": round(seconds, 1), "file": path.relative_to(self.out).as_posix()}
        with self.lock:
            with (self.out / "results.jsonl").open("a") as lines:
                lines.write(json.dumps(line) + "\n")
            print(f"{call}, {step.name}: {state}, exit {code}, {seconds:.1f} s", flush=True)
            if step.after:
                step.after(self, path)
            self.collect_tables()
            self.write_manifest()

    def run_process(self, step, path, limit):
        """Exit code and state. Standard output is the file itself, so that what was printed before a cut is kept."""
        errors = path.with_name(f"{step.name}.err")
        environment = {**self.environment, **step.environment}
        warden = [sys.executable, str(self.place.root / "day" / "warden.py"), *step.command]
        with path.open("wb") as said, errors.open("wb") as complaints:
            child = subprocess.Popen(
                warden, cwd=self.place.root, env=environment, stdin=subprocess.PIPE, stdout=said, stderr=complaints
            )
            try:
                code = child.wait(timeout=limit)
                return code, "passed" if code == 0 else "failed"
            except subprocess.TimeoutExpired:
                return None, "cut off"
            finally:
                self.end(child)

    @staticmethod
    def end(child):
        """Ends a step with all that it started: gently first, then by closing the pipe at which its warden waits."""
        if child.poll() is None:
            child.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(timeout=GRACE_SECONDS)
        child.stdin.close()
        child.wait()

    def collect_tables(self):
        """Tables that differ from those with which the machine began; an index without new tables says nothing."""
        for table in sorted(self.tuned().glob("*.toml")):
            if sha256(table.read_bytes()) != self.manifest["started"].get(table.name):
                (self.out / "tuned").mkdir(exist_ok=True)
                shutil.copyfile(table, self.out / "tuned" / table.name)

    def know_gate(self, path):
        """What the gate chose is what every later step uses; the device has the key that `tune devices` printed."""
        with contextlib.suppress(ValueError, KeyError, OSError):
            gate = json.loads(path.read_text())
            self.environment.update(gate["chosen"])
            self.know_device(gate.get("key", ""), gate.get("compiler", ""))

    def know_device(self, key, compiler):
        device = self.manifest["device"]
        if device["key"] and key and device["key"] != key:
            self.refuse("device", device["key"], key)
        device["key"] = device["key"] or key
        self.manifest["versions"]["compiler"] = compiler

    def know_facts(self, path):
        """Versions of drivers and libraries, from what facts.py printed."""
        with contextlib.suppress(ValueError, KeyError):
            self.manifest["versions"] |= json.loads(path.read_text())["versions"]

    def results(self):
        """The content of every file that is a result, by name."""
        found = {}
        for path in sorted(self.out.rglob("*")):
            # A file may go while it is read.
            with contextlib.suppress(FileNotFoundError):
                if path.is_file() and self.is_result(path):
                    found[path.relative_to(self.out).as_posix()] = path.read_bytes()
        return found

    def is_result(self, path):
        """The cache goes on changing; what it holds is exported by a step, and tables are collected."""
        first = path.relative_to(self.out).parts[0]
        return first not in ("cache", WORK, "manifest.json") and not path.name.endswith(".part") and not first.endswith(".part")

    def write_manifest(self):
        """Writes the manifest, and an archive of the very files that it lists."""
        with self.lock:
            results = self.results()
            entries = {name: {"sha256": sha256(content), "bytes": len(content)} for name, content in results.items()}
            self.manifest["files"] = entries
            text = (json.dumps(self.manifest, indent=1) + "\n").encode()
            write_whole(self.manifest_path, text)
            if self.pack:
                self.write_pack({"manifest.json": text, **results})

    def write_pack(self, files):
        """All results in one file, for machines that give few of them back."""
        self.pack.parent.mkdir(parents=True, exist_ok=True)
        half = self.pack.with_name(self.pack.name + ".part")
        with tarfile.open(half, "w:gz", compresslevel=4) as archive:
            for name, content in files.items():
                entry = tarfile.TarInfo(f"results/{name}")
                entry.size, entry.mtime = len(content), int(time.time())
                archive.addfile(entry, io.BytesIO(content))
        os.replace(half, self.pack)

    def keep_packing(self):
        while True:
            time.sleep(PACK_SECONDS)
            # A full disk ends no day: the next archive may fit again.
            with contextlib.suppress(OSError):
                self.write_manifest()

    def finish(self, call):
        with self.lock:
            self.manifest["calls"][call] = "finished"
            self.write_manifest()
