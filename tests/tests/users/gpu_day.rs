//! Rehearses a GPU day on the cpu: builds the folder, runs both calls without cargo, and imports the results. Damaged or
//! foreign results must be rejected.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{cargo, expect_code, profile, stderr, stdout, tune_program, workspace};
use serde_json::Value;

/// The seconds of the two calls.
const CALLS: [(&str, u64); 2] = [("A", 390), ("B", 260)];

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

/// Unpacks the archive of the day, as on the machine to which it was carried.
fn unpacked(archive: &Path, into: &Path) -> PathBuf {
    let mut unpack = Command::new("python3");
    unpack.args(["-m", "tarfile", "-e"]).arg(archive).arg(into);
    expect_code(&mut unpack, 0);
    into.join("day")
}

/// Makes a call, as on a machine without Rust. Nothing of this process's environment is there, not even `HOME`.
fn call(name: &str, folder: &Path, results: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(folder.join("run.sh"));
    command.args([name, "--device", "cpu", "--quick", "--out"]);
    command.arg(results).args(more);
    command.arg("--pack").arg(pack_of(results));
    command
        .current_dir("/")
        .env_clear()
        .env("PATH", path_without_cargo());
    if let Some(compiler) = std::env::var_os("KILN_CXX") {
        command.env("KILN_CXX", compiler);
    }
    let ran = command.output().expect("bash and Python should start");
    println!("{}{}", stdout(&ran), stderr(&ran));
    ran
}

fn pack_of(results: &Path) -> PathBuf {
    results.with_extension("tar.gz")
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// The steps that ran: for each, its name and its state. What a failed step said is printed.
fn steps(results: &Path) -> Vec<(String, String)> {
    let lines = fs::read_to_string(results.join("results.jsonl")).expect("there should be steps");
    let read = |line: &str| {
        let step: Value = serde_json::from_str(line).expect("a step should be JSON");
        let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
        let said = fs::read_to_string(results.join(text("file"))).expect("a step has a file");
        if text("state") == "failed" {
            println!("{line}\n{said}");
        }
        (text("step"), text("state"))
    };
    lines.lines().map(read).collect()
}

fn has(steps: &[(String, String)], name: &str, state: &str) {
    let found = steps
        .iter()
        .any(|step| *step == (name.into(), state.into()));
    assert!(found, "{name} is not {state}: {steps:?}");
}

#[test]
fn a_day_runs_without_cargo_and_its_results_come_back_whole_or_not_at_all() {
    let test = "a_day_runs_without_cargo_and_its_results_come_back_whole_or_not_at_all";
    if !have(test, &[Need::HostCompiler, Need::Python]) {
        return;
    }
    let place = tempfile::tempdir().expect("a temporary directory should be had");
    let built = place.path().join("built/day");
    let archive = place.path().join("day.tar.xz");
    let words = |path: &Path| path.to_string_lossy().into_owned();
    let (out, packed) = (words(&built), words(&archive));
    let mut build = gpu_day(&["--out", &out, "--archive", &packed, "--profile", profile()]);
    build.args(["--without-cublas", "--without-nvrtc"]);
    println!("{}", stderr(&expect_code(&mut build, 0)));

    let folder = unpacked(&archive, &place.path().join("first"));
    let first = place.path().join("A");
    call("A", &folder, &first, &["--seconds", "390"]);
    let ran = steps(&first);
    for name in [
        "gate",
        "facts",
        "conformance",
        "device_prelude",
        "library",
        "itself-save",
        "tune-softmax",
        "bench",
        "outputs",
        "cache",
    ] {
        has(&ran, name, "passed");
    }
    has(&ran, "ceilings", "skipped");
    has(&ran, "cublas", "skipped");
    let itself = json(&first.join("A/itself-compare.json"));
    assert!(itself["rows"][0]["measured"].is_object(), "{itself}");

    // The second call is made on a fresh machine, to which the results of the first are carried.
    let folder = unpacked(&archive, &place.path().join("second"));
    let unpacked = place.path().join("have");
    let mut unpack = Command::new("python3");
    unpack.args(["-m", "tarfile", "-e"]);
    expect_code(unpack.arg(pack_of(&first)).arg(&unpacked), 0);
    let second = place.path().join("B");
    let known = words(&unpacked.join("results"));
    call(
        "B",
        &folder,
        &second,
        &["--seconds", "260", "--have", &known],
    );
    let ran = steps(&second);
    has(&ran, "again", "passed");
    // A rehearsal does not repeat what A has passed.
    let repeated = |name: &str| ran.iter().any(|(step, _)| step == name);
    assert!(!repeated("conformance") && repeated("gate"), "{ran:?}");
    come_back(place.path(), &first, &second);
}

/// Imports the archives of both calls into a separate folder, and then tries damaged and foreign results.
fn come_back(place: &Path, first: &Path, second: &Path) {
    let import = |from: &Path, into: &Path, code| {
        let (from, into) = (from.to_string_lossy(), into.to_string_lossy());
        stderr(&expect_code(
            &mut gpu_day(&["--import", &from, "--into", &into]),
            code,
        ))
    };
    // The rows of a cpu do not belong in the repository.
    let from = first.to_string_lossy();
    let refused = stderr(&expect_code(&mut gpu_day(&["--import", &from]), 1));
    assert!(refused.contains("help: `--into DIR`"), "{refused}");
    let scratch = place.join("scratch");
    import(&pack_of(first), &scratch, 0);
    import(&pack_of(second), &scratch, 0);
    let reports = fs::read_dir(scratch.join("benches/results")).expect("it was made");
    let reports: Vec<PathBuf> = reports.flatten().map(|entry| entry.path()).collect();
    assert_eq!(reports.len(), 2, "{reports:?}");
    let report = json(&reports[0]);
    let count = report["steps"].as_array().map_or(0, Vec::len);
    assert!(count >= 10, "{count} steps");
    assert!(report["steps"][0]["output"].is_object(), "{report}");
    // The same device computes the same again.
    let from = pack_of(first);
    let words = ["--compare", &from.to_string_lossy(), "--profile", profile()];
    let compared = stdout(&expect_code(&mut gpu_day(&words), 0));
    assert!(
        compared.contains("equal      gemm baseline ("),
        "{compared}"
    );
    assert!(compared.ends_with(" and cpu, bit for bit\n"), "{compared}");
    refuse_damaged(place, first, &|into| import(first, into, 1), &|into| {
        import(first, into, 0)
    });
}

/// Damages results in several ways. Nothing of them must be imported.
fn refuse_damaged(
    place: &Path,
    results: &Path,
    refused: &dyn Fn(&Path) -> String,
    accepted: &dyn Fn(&Path) -> String,
) {
    let refuse = |parts: &[&str]| {
        let into = place.join("refused");
        let said = refused(&into);
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
    changed(r#""schema": 2"#, r#""schema": 1"#);
    refuse(&["the schema is 1 there, but 2 here"]);
    changed(r#""key": "cpu/"#, r#""key": "", "was": "cpu/"#);
    refuse(&["name no device"]);
    changed(r#""A/gate.json""#, r#""../gate.json""#);
    refuse(&["outside the results"]);
    fs::write(&manifest, &whole).expect("it should be written");
    // After an interruption during the writing of a step, the run is complete up to the last step in its manifest.
    let lines = results.join("results.jsonl");
    let steps = fs::read_to_string(&lines).expect("it is there");
    fs::write(&lines, format!("{steps}{{\"call\"")).expect("it should be written");
    accepted(&place.join("cut"));
    let gate = results.join("A/gate.json");
    let mut bytes = fs::read(&gate).expect("it is there");
    bytes[0] ^= 1;
    fs::write(&gate, &bytes).expect("it should be written");
    refuse(&["A/gate.json is damaged", "SHA-256"]);
    fs::remove_file(&gate).expect("it should be removed");
    refuse(&["A/gate.json"]);
}

/// The steps of a call that fit into its seconds: for each, its name, its time limit and its command.
fn plan(seconds: u64, device: &str, more: &[&str]) -> Vec<(String, u64, Vec<String>)> {
    let mut command = Command::new("python3");
    command.arg(workspace().join("benches/gpu-day/day.py"));
    command.args(["A", "--seconds", &seconds.to_string(), "--device", device]);
    command.args(["--plan", "--root", "/nowhere"]);
    command.args(more).env("PYTHONDONTWRITEBYTECODE", "1");
    let plan: Value = serde_json::from_str(&stdout(&expect_code(&mut command, 0)))
        .expect("a plan should be JSON");
    let steps = plan.as_array().cloned().unwrap_or_default();
    let read = |step: &Value| {
        let words = step["command"].as_array().cloned().unwrap_or_default();
        let words = words.iter().filter_map(Value::as_str).map(str::to_owned);
        let limit = step["seconds"].as_u64().expect("each step has a limit");
        let name = step["step"].as_str().unwrap_or_default().to_owned();
        (name, limit, words.collect())
    };
    steps.iter().map(read).collect()
}

/// Even if every step takes its limit, which none is expected to, a first call has the evidence without which no time
/// counts, and a second call goes on with rows and the vendor's libraries.
#[test]
fn each_call_has_its_evidence_within_its_seconds() {
    let test = "each_call_has_its_evidence_within_its_seconds";
    if !have(test, &[Need::Python]) {
        return;
    }
    let names = |call: &[(String, u64, Vec<String>)]| -> Vec<String> {
        call.iter().map(|(name, ..)| name.clone()).collect()
    };
    let first = plan(CALLS[0].1, "cuda:0", &[]);
    let truth = ["gate", "facts", "conformance", "library", "device_prelude"];
    let honesty = ["itself-save", "itself-compare", "ceilings"];
    assert_eq!(names(&first)[..8], [&truth[..], &honesty].concat());
    // The saved kernels have the rows of the day's own copy; with others, a kernel would not be compared with itself.
    let itself = &first[6].2;
    assert!(
        itself.contains(&"/nowhere/results/work".to_owned()),
        "{itself:?}"
    );
    let known = tempfile::tempdir().expect("a temporary directory should be had");
    let passed = names(&plan(2 * CALLS[0].1, "cuda:0", &[]))
        .into_iter()
        .take(11);
    let lines = passed.map(|step| format!("{{\"step\": \"{step}\", \"state\": \"passed\"}}\n"));
    let lines: String = lines.collect();
    assert!(lines.contains("tune-softmax"), "{lines}");
    for (name, text) in [("results.jsonl", lines.as_str()), ("manifest.json", "{}")] {
        fs::write(known.path().join(name), text).expect("it should be written");
    }
    let have = known.path().to_string_lossy().into_owned();
    let second = names(&plan(CALLS[1].1, "cuda:0", &["--have", &have]));
    let new = [
        "gate",
        "facts",
        "tune-layer_norm",
        "again",
        "tune-transpose",
    ];
    assert_eq!(second[..5], new);
    for device in ["cpu", "cuda:0", "hip:0"] {
        for (_, seconds) in CALLS {
            let limits = plan(seconds, device, &[]).into_iter();
            let limits = limits.filter(|(name, ..)| name != "facts");
            let total: u64 = limits.map(|(_, limit, _)| limit).sum();
            assert!(total <= seconds, "{device}: {total} s");
        }
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
        let keys = ["problems", "gpu_problems"];
        for problem in keys.iter().flat_map(|key| kernel[key].as_array()).flatten() {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            declared.insert((text(&kernel["kernel"]), text(problem)));
        }
    }
    let mut planned = 0;
    for device in ["cpu", "cuda:0"] {
        for (step, _, command) in plan(100_000, device, &[]) {
            let after = |word: &str| -> Vec<&String> {
                let pairs = command.windows(2).filter(|pair| pair[0] == word);
                pairs.map(|pair| &pair[1]).collect()
            };
            // A kernel is compared with itself on the problem with which it was saved.
            if step == "itself-compare" {
                continue;
            }
            let kernels = after("--kernel");
            let kernels: Vec<&str> = kernels.iter().flat_map(|names| names.split(',')).collect();
            for problem in after("--problem") {
                let known = kernels
                    .iter()
                    .any(|kernel| declared.contains(&((*kernel).to_owned(), problem.to_string())));
                assert!(known, "{step} on {device}: {kernels:?} {problem}");
                planned += 1;
            }
        }
    }
    assert!(planned > 50, "{planned}");
}
