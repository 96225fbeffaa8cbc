//! What a GPU day does with steps that fail or do not end, and what remains of a call that is killed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{cargo, expect_code, stdout, workspace};
use kiln_tests::script::write_script;
use serde_json::Value;

/// Starts the recorder of a GPU day.
const RECORDER: &str = r#"
import pathlib, sys
from recorder import Recorder
from steps import Place, Step
root, out = map(pathlib.Path, sys.argv[1:])
recorder = Recorder(Place(root, out, "cpu", True), {}, out.parent / "pack.tar.gz")
recorder.know_device("cpu/x86_64/rehearsal", "none")
shell = lambda name, seconds, words, **more: Step(name, seconds, ["/bin/sh", "-c", words], **more)
"#;

/// Steps that end in each possible way.
const EACH_WAY: &str = r#"
recorder.run("A", shell("good", 60, "echo all is well"), 500)
recorder.run("A", shell("bad", 60, "echo not so well; exit 3"), 500)
recorder.run("A", shell("endless", 1, "echo begun; sleep 6000", least=0), 500)
recorder.run("A", shell("absent", 60, "true", missing="no such tool"), 500)
recorder.run("A", Step("unknown", 60, ["/no/such/program"]), 500)
recorder.run("A", shell("late", 60, "true"), 2)
test = '{"test": "is_right::gemm", "state": "failed"}'
recorder.run("A", shell("library", 60, f"echo '{test}'", ending="jsonl"), 500)
recorder.run("A", shell("tune-gemm", 60, "true", kernel="gemm"), 500)
table = f"echo 'kernel = \"gelu\"' > {recorder.tuned()}/gelu.toml"
recorder.run("A", shell("tune-gelu", 60, table, kernel="gelu"), 500)
"#;

/// The second call begins with the tables of the first, and gives back only what it changed itself.
const GO_ON: &str = r#"
second = Recorder(Place(root, out.parent / "second", "cpu", True, out), {})
second.run("B", shell("see", 60, f"cat {second.tuned()}/gelu.toml"), 500)
second.run("B", shell("tune-gemm", 60, f"echo 'kernel = \"gemm\"' > {second.tuned()}/gemm.toml"), 500)
"#;

/// Steps without end, each with a process that its command leaves behind. `$0` is in the command line of each.
const ENDLESS: &str = r#"
while True:
    recorder.run("A", shell("busy", 60, "sleep 600 & echo begun; sleep 0.05; exit 0", least=0), 500)
    recorder.run("A", shell("long", 1, "sleep 601 & sleep 602", least=0), 500)
"#;

/// A folder of a day, with nothing to tune.
fn folder(place: &Path) {
    let root = place.join("root");
    fs::create_dir_all(root.join("kernels/tuned")).expect("a folder should be made");
    let day = workspace().join("benches/gpu-day");
    std::os::unix::fs::symlink(day, root.join("day")).expect("a link should be made");
    let version = env!("CARGO_PKG_VERSION");
    let described = format!(r#"{{"kiln": "{version}", "commit": "0", "tables": {{}}}}"#);
    for (name, text) in [
        ("day.json", described.as_str()),
        ("cargo-metadata.json", "{}"),
    ] {
        fs::write(root.join(name), text).expect("a file should be written");
    }
}

/// A Python that runs steps in the folder of a day.
fn recording(place: &Path, steps: &str) -> Command {
    let mut command = Command::new("python3");
    command.args(["-c", &format!("{RECORDER}{steps}")]);
    command.arg(place.join("root")).arg(place.join("results"));
    command.env("PYTHONPATH", workspace().join("benches/gpu-day"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

#[test]
fn a_step_that_fails_or_does_not_end_is_recorded_and_the_next_one_goes_on() {
    let test = "a_step_that_fails_or_does_not_end_is_recorded_and_the_next_one_goes_on";
    if !have(test, &[Need::Python]) {
        return;
    }
    let place = tempfile::tempdir().expect("a temporary directory should be had");
    folder(place.path());
    let steps = format!("{EACH_WAY}{GO_ON}");
    expect_code(&mut recording(place.path(), &steps), 0);
    let results = place.path().join("results");
    let lines = fs::read_to_string(results.join("results.jsonl")).expect("there should be steps");
    let state = |line: &str| {
        let step: Value = serde_json::from_str(line).expect("a step should be JSON");
        let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
        format!("{}: {}", text("step"), text("state"))
    };
    let states: Vec<String> = lines.lines().map(state).collect();
    let want = [
        "good: passed",
        "bad: failed",
        "endless: cut off",
        "absent: skipped",
        "unknown: failed",
        "late: no time",
        "library: passed",
        // A kernel that is wrong is not timed.
        "tune-gemm: skipped",
        "tune-gelu: passed",
    ];
    assert_eq!(states, want);
    // The output up to the interruption is kept, and the manifest lists it.
    let said = fs::read_to_string(results.join("A/endless.txt")).expect("it was kept");
    assert_eq!(said, "begun\n");
    let manifest = json(&results.join("manifest.json"));
    let file = &manifest["files"]["A/endless.txt"];
    assert_eq!(file["bytes"], said.len());
    assert_eq!(manifest["calls"]["A"], "not finished");
    let mut unpack = Command::new("tar");
    unpack.args(["xzf", "pack.tar.gz", "--one-top-level=unpacked"]);
    expect_code(unpack.current_dir(place.path()), 0);
    let unpacked = place.path().join("unpacked/results");
    assert_eq!(json(&unpacked.join("manifest.json")), manifest);
    assert!(unpacked.join("A/endless.txt").is_file());
    assert!(!unpacked.join("work").exists());
    let row = "kernel = \"gelu\"\n";
    let read = |path: &Path| fs::read_to_string(path).expect("it should be there");
    assert_eq!(read(&unpacked.join("tuned/gelu.toml")), row);
    let second = place.path().join("second");
    assert_eq!(read(&second.join("B/see.txt")), row);
    assert!(second.join("tuned/gemm.toml").is_file());
    assert!(!second.join("tuned/gelu.toml").exists());
}

/// A program with three tests. The first takes longer than the time that is given to all of them.
const TESTS: &str = "if [ \"$1\" = --list ]; then printf 'slow: test\\nnew: test\\nother: test\\n'; exit; fi\n\
                     [ \"$1\" != slow ] || sleep 600\necho '1 passed'\n";

#[test]
fn a_second_call_runs_the_tests_first_that_have_not_passed_and_repeats_the_others_if_there_is_time()
{
    let test = "a_second_call_runs_the_tests_first_that_have_not_passed_and_repeats_the_others_if_there_is_time";
    if !have(test, &[Need::Python]) {
        return;
    }
    let place = tempfile::tempdir().expect("a temporary directory should be had");
    let (program, earlier) = (place.path().join("tests"), place.path().join("A.jsonl"));
    write_script(&program, TESTS);
    // The last line was cut off.
    let known = "{\"test\": \"slow\", \"state\": \"passed\"}\n{\"test\": \"new\", \"state\": \"failed\"}\n{\"test\"";
    fs::write(&earlier, known).expect("a file should be written");
    let script = workspace().join("benches/gpu-day/each_test.py");
    let each = |known: &[&str]| {
        let mut command = Command::new("python3");
        command.arg(&script).args(["--seconds", "10"]).args(known);
        command.arg(&program).args(["slow", "new", "other"]);
        let said = stdout(&expect_code(&mut command, 0));
        let state = |line: &str| {
            let test: Value = serde_json::from_str(line).expect("a test should be JSON");
            format!("{} {}", test["test"], test["state"]).replace('"', "")
        };
        said.lines().map(state).collect::<BTreeSet<String>>()
    };
    let new = ["new passed", "other passed"].map(str::to_owned);
    let earlier = earlier.to_string_lossy();
    assert_eq!(each(&["--have", &earlier]), BTreeSet::from(new));
    let mut order = Command::new("python3");
    let print = "import each_test, sys; names = ['slow', 'new', 'other']; \
                 print(*[each_test.chosen(sys.argv[1], names, passed) for passed in ({}, {'slow'})])";
    order.args(["-c", print]).arg(&program);
    order.env("PYTHONPATH", workspace().join("benches/gpu-day"));
    order.env("PYTHONDONTWRITEBYTECODE", "1");
    let said = stdout(&expect_code(&mut order, 0));
    let orders = "['slow', 'new', 'other'] ['new', 'other', 'slow']";
    assert_eq!(said.trim(), orders);
}

/// Whether a process has this folder in its command line or its environment.
fn is_used(folder: &Path) -> bool {
    let wanted = folder.to_string_lossy().into_owned();
    let processes = fs::read_dir("/proc").expect("this is Linux").flatten();
    processes
        .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok())
        .any(|entry| {
            let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
            let text = [read("cmdline"), read("environ")].concat();
            String::from_utf8_lossy(&text).contains(&wanted)
        })
}

#[test]
fn a_call_that_is_killed_leaves_an_archive_that_is_imported_and_no_process() {
    let test = "a_call_that_is_killed_leaves_an_archive_that_is_imported_and_no_process";
    if !have(test, &[Need::Python]) {
        return;
    }
    let mut imported = 0;
    for kill in 0..20 {
        let place = tempfile::tempdir().expect("a temporary directory should be had");
        folder(place.path());
        let mut command = recording(place.path(), ENDLESS);
        // Every process of the call can be told by its environment.
        command.env("KILN_DAY_FOLDER", place.path());
        let output = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut call = output.spawn().expect("Python should start");
        let pack = place.path().join("pack.tar.gz");
        // The moment is a number of steps, and some time into the next step.
        until(
            || pack.is_file() && steps_in(place.path()) >= kill / 5,
            "it records no steps",
        );
        std::thread::sleep(Duration::from_millis(83 * (kill as u64 % 5)));
        call.kill().expect("it should run");
        call.wait().expect("it should end");
        until(|| !is_used(place.path()), "a process is left");
        let (from, into) = (pack.to_string_lossy(), place.path().join("into"));
        let into = into.to_string_lossy();
        let mut import = cargo(&workspace());
        import.args(["xtask", "gpu-day", "--import", &from, "--into", &into]);
        let is_first = first_archive(&pack);
        expect_code(&mut import, i32::from(is_first));
        imported += usize::from(!is_first);
    }
    // The archive of a step is written before the next step begins.
    assert!(imported >= 10, "{imported}");
}

/// Waits until something holds.
fn until(holds: impl Fn() -> bool, otherwise: &str) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(120), "{otherwise}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The number of steps that were recorded.
fn steps_in(place: &Path) -> usize {
    let lines = fs::read_to_string(place.join("results/results.jsonl"));
    lines.map_or(0, |lines| lines.lines().count())
}

/// Whether an archive is the one that the recorder writes before its first step, when no device is known. It contains
/// no results to import.
fn first_archive(pack: &Path) -> bool {
    let mut list = Command::new("tar");
    let listed = list
        .arg("tzf")
        .arg(pack)
        .output()
        .expect("tar should start");
    assert!(listed.status.success(), "the archive is damaged");
    !String::from_utf8_lossy(&listed.stdout).contains("results.jsonl")
}
