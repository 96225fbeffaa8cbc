"""Runs steps and keeps what they say: a file of raw output each, results.jsonl with a line each, and manifest.json, which is written
anew after each step, so that a run that is cut short can be imported."""

import datetime
import hashlib
import json
import os
import pathlib
import platform
import shlex
import shutil
import signal
import subprocess
import tarfile
import time

SCHEMA = 1
# How long a step that is cut off may take to end.
GRACE_SECONDS = 3
# A day's own copy of the kernels: rows are written into it, and the folder that was carried stays as it was built.
WORK = "work"


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_whole(path, text):
    """A reader sees the file of before or that of now, and none in between."""
    half = path.with_name(path.name + ".part")
    half.write_text(text)
    os.replace(half, path)


class Recorder:
    def __init__(self, root, out, device, quick, environment, pack=None):
        self.root, self.out, self.environment, self.pack = root, out, environment, pack
        out.mkdir(parents=True, exist_ok=True)
        built = json.loads((root / "day.json").read_text())
        self.manifest_path = out / "manifest.json"
        self.manifest = {
            "schema": SCHEMA,
            "kiln": built["kiln"],
            "commit": built["commit"],
            "tables": built["tables"],
            "device": {"name": device, "key": ""},
            "date": now()[:10],
            "quick": quick,
            "versions": {"python": platform.python_version(), "system": platform.platform()},
            "parts": {},
            "files": {},
        }
        self.go_on()
        self.copy_kernels()
        self.write_manifest()

    def copy_kernels(self):
        if not (self.out / WORK).exists():
            half = self.out / f"{WORK}.part"
            shutil.rmtree(half, ignore_errors=True)
            shutil.copytree(self.root / "kernels", half / "kernels")
            shutil.copy(self.root / "cargo-metadata.json", half)
            half.rename(self.out / WORK)

    def go_on(self):
        """Parts of one day share a folder; results of another device or another Kiln do not belong together."""
        if not self.manifest_path.exists():
            return
        before = json.loads(self.manifest_path.read_text())
        for what in ["schema", "kiln", "commit", "quick"]:
            if before[what] != self.manifest[what]:
                self.refuse(what, before[what], self.manifest[what])
        if before["device"]["name"] != self.manifest["device"]["name"]:
            self.refuse("device", before["device"]["name"], self.manifest["device"]["name"])
        self.manifest = before
        # Half a line, of a run that was cut while it wrote.
        lines, known = self.out / "results.jsonl", before["files"].get("results.jsonl")
        if lines.exists():
            os.truncate(lines, known["bytes"] if known else 0)

    def refuse(self, what, before, here):
        raise SystemExit(f"{self.out} holds results of another run: {what} is {before} there and {here} here\nhelp: --out another folder")

    def run(self, part, step, left_seconds):
        """Whether the step passed; one that cannot run here is not a failure."""
        self.manifest["parts"][str(part)] = "not finished"
        name = f"part{part}/{step.name}.{step.ending}"
        path = self.out / name
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        start = time.monotonic()
        limit = min(step.seconds, left_seconds - GRACE_SECONDS)
        if step.missing:
            exit_code, state = None, "skipped"
            path.write_text(step.missing + "\n")
        elif limit < 1:
            exit_code, state = None, "cut off"
            path.write_text("no time was left\n")
        else:
            print(f"part {part}, {step.name} (at most {limit:.0f} s)", flush=True)
            exit_code, state = self.run_process(step, path, limit)
        seconds = round(time.monotonic() - start, 1)
        line = {"part": part, "step": step.name, "command": shlex.join(step.command), "exit": exit_code}
        line |= {"state": state, "seconds": seconds, "file": name}
        with (self.out / "results.jsonl").open("a") as lines:
            lines.write(json.dumps(line) + "\n")
        print(f"part {part}, {step.name}: {state}, exit {exit_code}, {seconds} s", flush=True)
        if step.after:
            step.after(self, path)
        self.collect_tables()
        self.write_manifest()
        return state in ("passed", "skipped")

    def run_process(self, step, path, limit):
        """Exit code and state. Standard output is the file itself, so that what was said before a cut is kept."""
        errors = path.with_name(f"{step.name}.err")
        environment = {**self.environment, **step.environment}
        with path.open("wb") as said, errors.open("wb") as complaints:
            try:
                child = subprocess.Popen(
                    step.command, cwd=self.root, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=complaints,
                    start_new_session=True,
                )
            except OSError as error:
                complaints.write(f"{error}\n".encode())
                return None, "failed"
            try:
                code = child.wait(timeout=limit)
                return code, "passed" if code == 0 else "failed"
            except subprocess.TimeoutExpired:
                return None, "cut off"
            finally:
                self.end(child)

    @staticmethod
    def end(child):
        """Ends a step with all that it started."""
        if child.poll() is not None:
            return
        for number, seconds in [(signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, None)]:
            try:
                os.killpg(child.pid, number)
                child.wait(timeout=seconds)
                return
            except subprocess.TimeoutExpired:
                continue
            except ProcessLookupError:
                return

    def collect_tables(self):
        """Tables that differ from those that were carried here; an index without new tables says nothing."""
        tuned = self.out / WORK / "kernels" / "tuned"
        for table in sorted(tuned.glob("*.toml")):
            if sha256(table) != self.manifest["tables"].get(table.name):
                (self.out / "tuned").mkdir(exist_ok=True)
                shutil.copyfile(table, self.out / "tuned" / table.name)

    def know_device(self, path):
        """The key of the device, from what `tune devices --json` printed."""
        try:
            devices = json.loads(path.read_text())["devices"]
        except (ValueError, KeyError):
            return
        for device in devices:
            if device["name"] == self.manifest["device"]["name"]:
                self.manifest["device"]["key"] = device["key"]
                compiler = device.get("compiler") or {}
                self.manifest["versions"]["compiler"] = compiler.get("Ok", str(compiler.get("Err")))

    def know_facts(self, path):
        """Versions of drivers and libraries, from what facts.py printed."""
        try:
            self.manifest["versions"] |= json.loads(path.read_text())["versions"]
        except (ValueError, KeyError):
            return

    def write_manifest(self):
        files = [path for path in sorted(self.out.rglob("*")) if path.is_file() and self.is_result(path)]
        entries = {path.relative_to(self.out).as_posix(): {"sha256": sha256(path), "bytes": path.stat().st_size} for path in files}
        self.manifest["files"] = entries
        write_whole(self.manifest_path, json.dumps(self.manifest, indent=1) + "\n")
        if self.pack:
            self.write_pack([self.manifest_path, *files])

    def write_pack(self, files):
        """All results in one file, for machines that give few of them back."""
        self.pack.parent.mkdir(parents=True, exist_ok=True)
        half = self.pack.with_name(self.pack.name + ".part")
        with tarfile.open(half, "w:gz") as archive:
            for path in files:
                archive.add(path, pathlib.PurePath("results") / path.relative_to(self.out))
        os.replace(half, self.pack)

    def is_result(self, path):
        """The cache goes on changing; what it holds is exported by a step, and tables are collected."""
        first = path.relative_to(self.out).parts[0]
        return first not in ("cache", WORK, "manifest.json") and not first.endswith(".part")

    def finish(self, part):
        self.manifest["parts"][str(part)] = "finished"
        self.write_manifest()
