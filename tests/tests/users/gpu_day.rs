//! Rehearses a GPU day on the cpu: builds the folder, runs it without cargo, and imports the results. Damaged or
//! foreign results must be rejected.
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kiln_spec::baked::Index;
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{cargo, expect_code, profile, stderr, stdout, tune_program, workspace};
use kiln_tests::tables::{kernel, unmeasured};
use serde_json::Value;

/// A kernel that the rehearsal does not tune.
const BAKED: &str = "tensor_mul";

/// Time limit of a command on a borrowed machine, in seconds.
const COMMAND_SECONDS: u64 = 540;

/// The command `cargo xtask gpu-day`.
fn gpu_day(words: &[&str]) -> Command {
    let mut command = cargo(&workspace());
    command.args(["xtask", "gpu-day"]).args(words);
    command
}

/// The value of `PATH` without the folders that contain cargo.
fn path_without_cargo() -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| !folder.join("cargo").exists());
    std::env::join_paths(folders).expect("they were in a path before")
}

/// Runs one part, as on a machine without Rust.
fn run_part(folder: &Path, part: &str, results: &Path) -> Output {
    let mut command = Command::new(folder.join("run.sh"));
    command.args([part, "--device", "cpu", "--quick", "--out"]);
    command.arg(results).current_dir("/");
    command
        .env("PATH", path_without_cargo())
        .env_remove("CARGO");
    for name in [
        "KILN_TUNED",
        "KILN_STRICT",
        "KILN_TEST_DEVICE",
        "KILN_REQUIRE",
        "KILN_BARS",
    ] {
        command.env_remove(name);
    }
    command.output().expect("bash and Python should start")
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// The steps that ran: for each, its part, its name and its state. What a failed step said is printed.
fn steps(results: &Path) -> Vec<(u64, String, String)> {
    let lines = fs::read_to_string(results.join("results.jsonl")).expect("there should be steps");
    let read = |line: &str| {
        let step: Value = serde_json::from_str(line).expect("a step should be JSON");
        let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
        let said = fs::read_to_string(results.join(text("file"))).expect("a step has a file");
        if text("state") == "failed" {
            println!("{line}\n{said}");
        }
        (
            step["part"].as_u64().unwrap_or(0),
            text("step"),
            text("state"),
        )
    };
    lines.lines().map(read).collect()
}

#[test]
fn a_day_runs_without_cargo_and_its_results_come_back_whole_or_not_at_all() {
    let test = "a_day_runs_without_cargo_and_its_results_come_back_whole_or_not_at_all";
    if !have(test, &[Need::HostCompiler, Need::Python]) {
        return;
    }
    let place = tempfile::tempdir().expect("a temporary directory should be had");
    let (folder, results) = (place.path().join("day"), place.path().join("results"));
    let out = folder.to_string_lossy();
    let built = expect_code(
        &mut gpu_day(&["--out", &out, "--profile", profile(), "--without-cublas"]),
        0,
    );
    println!("{}", stderr(&built));
    for part in ["1", "2", "3"] {
        if part == "3" {
            bake(&results.join("work"));
        }
        let ran = run_part(&folder, part, &results);
        println!("{}{}", stdout(&ran), stderr(&ran));
    }
    let steps = steps(&results);
    let has = |part, name: &str, state: &str| {
        let found = steps
            .iter()
            .any(|step| *step == (part, name.into(), state.into()));
        assert!(found, "{name} is not {state}: {steps:?}");
    };
    for name in [
        "devices",
        "facts",
        "conformance",
        "device_prelude",
        "library",
        "smoke",
    ] {
        has(1, name, "passed");
    }
    has(1, "ceilings", "skipped");
    for name in ["itself-save", "tune-gemm", "tune-softmax", "cache"] {
        has(2, name, "passed");
    }
    let itself = json(&results.join("part2/itself-compare.json"));
    assert!(itself["rows"][0]["measured"].is_object(), "{itself}");
    has(3, "beside-gemm", "passed");
    has(3, "save", "passed");
    let beside = fs::read_to_string(results.join("part3/beside-gemm.jsonl"));
    let beside = beside.expect("it should be there");
    assert!(beside.contains(r#""peers":[{"#), "{beside}");
    come_back(place.path(), &results);
}

/// Bakes a row that `tune` could have written, because on this machine noise decides whether a result is proven.
fn bake(work: &Path) {
    let kernel = kernel(&workspace().join("kernels/Cargo.toml"), BAKED, &[]);
    let device = kiln::open("cpu").expect("the cpu device is always there");
    let config = kernel.spec.baseline.config.to_string();
    let table = unmeasured(&kernel, &[(device.info().key.clone(), &config)]);
    let tuned = work.join("kernels/tuned");
    let read = fs::read(tuned.join("index.toml")).expect("the index was carried");
    let mut index = Index::parse(&read).expect("the index should be right");
    let file = index.insert(BAKED).expect("it is a kernel's name");
    for (name, text) in [
        (file.as_str(), table.to_text()),
        ("index.toml", index.to_text()),
    ] {
        fs::write(tuned.join(name), text).expect("a table should be written");
    }
}

/// Imports the results into a separate folder, and then tries damaged and foreign results.
fn come_back(place: &Path, results: &Path) {
    let from = results.to_string_lossy();
    let import = |into: &Path, code| {
        let into = into.to_string_lossy();
        stderr(&expect_code(
            &mut gpu_day(&["--import", &from, "--into", &into]),
            code,
        ))
    };
    // The rows of a cpu do not belong in the repository.
    let refused = stderr(&expect_code(&mut gpu_day(&["--import", &from]), 1));
    assert!(refused.contains("help: `--into DIR`"), "{refused}");
    let scratch = place.join("scratch");
    import(&scratch, 0);
    let table = fs::read(scratch.join("kernels/tuned/gemm.toml"));
    let carried = fs::read(results.join("tuned/gemm.toml"));
    assert_eq!(
        table.expect("it was imported"),
        carried.expect("it is there")
    );
    let reports = fs::read_dir(scratch.join("benches/results")).expect("it was made");
    let reports: Vec<PathBuf> = reports.flatten().map(|entry| entry.path()).collect();
    assert_eq!(reports.len(), 1, "{reports:?}");
    let report = json(&reports[0]);
    let count = report["steps"].as_array().map_or(0, Vec::len);
    assert!(count >= 15, "{count} steps");
    assert!(report["steps"][0]["output"]["devices"].is_array());

    let refuse = |parts: &[&str]| {
        let into = place.join("refused");
        let said = import(&into, 1);
        for part in parts.iter().chain(&["\nhelp: "]) {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!into.exists(), "something was imported");
    };
    let manifest = results.join("manifest.json");
    let whole = fs::read_to_string(&manifest).expect("it is there");
    let changed = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from}");
        fs::write(&manifest, whole.replacen(from, to, 1)).expect("it should be written");
    };
    let version = env!("CARGO_PKG_VERSION");
    changed(&format!(r#""kiln": "{version}""#), r#""kiln": "0.0.7""#);
    refuse(&["foreign", "0.0.7 there", &format!("{version} here")]);
    changed(r#""schema": 1"#, r#""schema": 2"#);
    refuse(&["the schema is 2 there, but 1 here"]);
    changed(r#""key": "cpu/"#, r#""key": "", "was": "cpu/"#);
    refuse(&["name no device"]);
    changed(r#""part1/devices.json""#, r#""../devices.json""#);
    refuse(&["outside the results"]);
    fs::write(&manifest, &whole).expect("it should be written");
    // After an interruption during the writing of a step, the run is complete up to the last step in its manifest.
    let lines = results.join("results.jsonl");
    let steps = fs::read_to_string(&lines).expect("it is there");
    fs::write(&lines, format!("{steps}{{\"part\"")).expect("it should be written");
    import(&place.join("cut"), 0);
    let devices = results.join("part1/devices.json");
    let mut bytes = fs::read(&devices).expect("it is there");
    bytes[0] ^= 1;
    fs::write(&devices, &bytes).expect("it should be written");
    refuse(&["part1/devices.json is damaged", "SHA-256"]);
    fs::remove_file(&devices).expect("it should be removed");
    refuse(&["part1/devices.json"]);
}

/// The steps that a part would run on a device: for each, its time limit and its command.
fn plan(part: u32, device: &str, more: &[&str]) -> Vec<(u64, Vec<String>)> {
    let mut command = Command::new("python3");
    command.arg(workspace().join("benches/gpu-day/day.py"));
    command.args([
        &part.to_string(),
        "--device",
        device,
        "--plan",
        "--root",
        "/nowhere",
    ]);
    command.args(more).env("PYTHONDONTWRITEBYTECODE", "1");
    let plan: Value = serde_json::from_str(&stdout(&expect_code(&mut command, 0)))
        .expect("a plan should be JSON");
    let steps = plan.as_array().cloned().unwrap_or_default();
    let read = |step: &Value| {
        let words = step["command"].as_array().cloned().unwrap_or_default();
        let words = words.iter().filter_map(Value::as_str).map(str::to_owned);
        let limit = step["seconds"].as_u64().expect("each step has a limit");
        (limit, words.collect())
    };
    steps.iter().map(read).collect()
}

#[test]
fn each_part_is_done_within_what_a_borrowed_machine_gives_a_command() {
    let test = "each_part_is_done_within_what_a_borrowed_machine_gives_a_command";
    if !have(test, &[Need::Python]) {
        return;
    }
    let parts = (1..=3).flat_map(|part| ["cpu", "cuda:0", "hip:0"].map(|device| (part, device)));
    for ((part, device), more) in parts.flat_map(|part| [(part, &[][..]), (part, &["--quick"])]) {
        let limits = plan(part, device, more).into_iter().map(|(limit, _)| limit);
        let seconds: u64 = limits.sum();
        assert!(
            seconds < COMMAND_SECONDS,
            "part {part} on {device} {more:?}: {seconds} s"
        );
    }
}

#[test]
fn every_problem_of_the_plan_is_one_that_the_kernels_declare() {
    let test = "every_problem_of_the_plan_is_one_that_the_kernels_declare";
    if !have(test, &[Need::Python]) {
        return;
    }
    let mut list = Command::new(tune_program());
    list.args(["list", "--package", "kiln-kernels", "--json"]);
    let listed = stdout(&expect_code(list.current_dir(workspace()), 0));
    let listed: Value = serde_json::from_str(&listed).expect("a list should be JSON");
    let mut declared = BTreeSet::new();
    for kernel in listed.as_array().expect("it should be a list") {
        for (key, devices) in [
            ("problems", &["cpu", "cuda:0"][..]),
            ("gpu_problems", &["cuda:0"]),
        ] {
            for problem in kernel[key].as_array().into_iter().flatten() {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let of =
                    |device: &&str| (device.to_string(), text(&kernel["kernel"]), text(problem));
                declared.extend(devices.iter().map(of));
            }
        }
    }
    let mut planned = 0;
    for (part, device) in [(2, "cpu"), (2, "cuda:0"), (3, "cpu"), (3, "cuda:0")] {
        for (_, command) in plan(part, device, &[]) {
            let after = |word: &str| {
                let mut words = command.iter();
                words
                    .find(|found| *found == word)
                    .and_then(|_| words.next())
            };
            let (Some(kernel), Some(problem)) = (after("--kernel"), after("--problem")) else {
                continue;
            };
            // A step that saves several kernels contains the kernels of the steps before it, so it is not counted.
            if !kernel.contains(',') {
                let one = (device.to_owned(), kernel.clone(), problem.clone());
                assert!(declared.contains(&one), "{one:?}");
                planned += 1;
            }
        }
    }
    assert_eq!(planned, 28);
}

/// Steps that end in each possible way, run by the recorder of a GPU day.
const EACH_WAY: &str = r#"
import pathlib, sys
from recorder import Recorder
from steps import Step
root, out = map(pathlib.Path, sys.argv[1:])
recorder = Recorder(root, out, "cpu", True, {}, out.parent / "pack.tar.gz")
shell = lambda name, seconds, words, **more: Step(name, seconds, ["/bin/sh", "-c", words], **more)
recorder.run(1, shell("good", 60, "echo all is well"), 500)
recorder.run(1, shell("bad", 60, "echo not so well; exit 3"), 500)
recorder.run(1, shell("endless", 1, "echo begun; sleep 6000"), 500)
recorder.run(1, shell("absent", 60, "true", missing="no such tool"), 500)
recorder.run(1, Step("unknown", 60, ["/no/such/program"]), 500)
recorder.run(1, shell("late", 60, "true"), 2)
"#;

#[test]
fn a_step_that_fails_or_does_not_end_is_recorded_and_the_next_one_goes_on() {
    let test = "a_step_that_fails_or_does_not_end_is_recorded_and_the_next_one_goes_on";
    if !have(test, &[Need::Python]) {
        return;
    }
    let place = tempfile::tempdir().expect("a temporary directory should be had");
    let (root, results) = (place.path().join("root"), place.path().join("results"));
    fs::create_dir_all(root.join("kernels/tuned")).expect("a folder should be made");
    let described = r#"{"kiln": "0.1.0", "commit": "0", "tables": {}}"#;
    for (name, text) in [("day.json", described), ("cargo-metadata.json", "{}")] {
        fs::write(root.join(name), text).expect("a file should be written");
    }
    let mut command = Command::new("python3");
    command.args(["-c", EACH_WAY]).arg(&root).arg(&results);
    command.env("PYTHONPATH", workspace().join("benches/gpu-day"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    expect_code(&mut command, 0);
    let states: Vec<String> = steps(&results)
        .into_iter()
        .map(|(_, step, state)| format!("{step}: {state}"))
        .collect();
    let want = [
        "good: passed",
        "bad: failed",
        "endless: cut off",
        "absent: skipped",
        "unknown: failed",
        "late: cut off",
    ];
    assert_eq!(states, want);
    // The output up to the interruption is kept, and the manifest lists it.
    let said = fs::read_to_string(results.join("part1/endless.txt")).expect("it was kept");
    assert_eq!(said, "begun\n");
    let manifest = json(&results.join("manifest.json"));
    let file = &manifest["files"]["part1/endless.txt"];
    assert_eq!(file["bytes"], said.len());
    assert_eq!(manifest["parts"]["1"], "not finished");
    let mut unpack = Command::new("tar");
    unpack.args(["xzf", "pack.tar.gz", "--one-top-level=unpacked"]);
    expect_code(unpack.current_dir(place.path()), 0);
    let unpacked = place.path().join("unpacked/results");
    assert_eq!(json(&unpacked.join("manifest.json")), manifest);
    assert!(unpacked.join("part1/endless.txt").is_file());
    assert!(!unpacked.join("work").exists());
}
