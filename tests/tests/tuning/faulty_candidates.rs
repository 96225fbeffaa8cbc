//! Thirty-one wrong kernels. Each appears to be ten times faster than the correct kernel. None of them may win or be
//! stored as valid, and no process or file may remain.

use std::process::Command;
use std::time::{Duration, Instant};

use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::command::{expect_code, stdout, tune};
use serde_json::Value;

const CRATE: &str = include_str!("../../fixtures/faulty/src/lib.rs");
const SOURCE: &str = include_str!("../../fixtures/faulty/src/faulty.cu");

/// The numbers of the faults. The kernel's source describes each fault.
const FAULTS: std::ops::RangeInclusive<u32> = 1..=31;

/// Faults that run until a deadline. A few of them in one run are enough to test the deadline.
const SLOW: [u32; 2] = [18, 19];

#[test]
fn no_faulty_candidate_wins_or_is_stored_as_valid() {
    if !have(
        "no_faulty_candidate_wins_or_is_stored_as_valid",
        &[Need::HostCompiler],
    ) {
        return;
    }
    let faults: Vec<u32> = FAULTS
        .filter(|fault| in_full() || *fault != SLOW[1])
        .collect();
    let (report, trials) = tune_with(&faults);
    let winner = &report["tasks"][0]["winner"];
    assert!(winner["verdict"]["baseline_kept"].is_object(), "{winner:#}");
    let mut seen = 0;
    for trial in &trials {
        let config = trial["config"].as_str().expect("a config is text");
        if config.starts_with("FAULT=0,") {
            continue;
        }
        seen += 1;
        assert!(
            trial["outcome"].get("measured").is_none(),
            "{config} was stored as valid: {trial:#}"
        );
    }
    assert_eq!(seen, faults.len(), "every faulty candidate has a trial");
    println!("faulty candidates: {seen}, winners among them: 0, stored as valid: 0");
    for trial in &trials {
        println!(
            "  {}: {}",
            trial["config"].as_str().unwrap_or_default(),
            trial["outcome"]
        );
    }
}

#[test]
fn a_hang_is_cut_within_its_deadline_and_leaves_no_process() {
    if !have(
        "a_hang_is_cut_within_its_deadline_and_leaves_no_process",
        &[Need::HostCompiler],
    ) {
        return;
    }
    let start = Instant::now();
    let (_, trials) = tune_with(&[18]);
    let elapsed = start.elapsed();
    let hung = trials.iter().find(|trial| {
        trial["config"]
            .as_str()
            .is_some_and(|c| c.starts_with("FAULT=18"))
    });
    let limit_ns = hung.and_then(|trial| trial["outcome"]["timed_out"]["limit_ns"].as_u64());
    let limit = Duration::from_nanos(limit_ns.expect("the hang should have timed out"));
    // The whole run, including compiles and the checks of the baseline, takes little longer than the deadline.
    println!("a hang with a deadline of {limit:?}: the whole run took {elapsed:?}");
    assert!(
        !in_full() || elapsed < limit + Duration::from_secs(60),
        "{elapsed:?}"
    );
}

/// Tunes the crate with the correct version and these faults. Returns the report and all trials.
fn tune_with(faults: &[u32]) -> (Value, Vec<Value>) {
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    let root = directory.path();
    let faults: Vec<_> = std::iter::once(0)
        .chain(faults.iter().copied())
        .map(|fault| fault.to_string())
        .collect();
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("a file has a folder"))
            .expect("a folder should be made");
        std::fs::write(path, text).expect("a file should be written");
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"faulty\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
    );
    write("src/lib.rs", &CRATE.replace("FAULTS", &faults.join(", ")));
    write("src/faulty.cu", SOURCE);
    let cache = root.join("cache");
    let mut run = tune(root, &cache);
    run.args([
        "run", "--json", "--budget", "full", "--trials", "all", "--device", "cpu",
    ]);
    let output = expect_code(&mut run, 0);
    let report: Value = serde_json::from_str(&stdout(&output)).expect("the report should be JSON");
    no_process_left_behind(root);
    let export = expect_code(tune(root, &cache).args(["cache", "export"]), 0);
    let document: Value =
        serde_json::from_str(&stdout(&export)).expect("the export should be JSON");
    let mut trials = Vec::new();
    collect_trials(&document, &mut trials);
    (report, trials)
}

/// Collects all trials in an export.
fn collect_trials(value: &Value, trials: &mut Vec<Value>) {
    match value {
        Value::Object(object) if object.contains_key("outcome") => trials.push(value.clone()),
        Value::Object(object) => object
            .values()
            .for_each(|value| collect_trials(value, trials)),
        Value::Array(values) => values
            .iter()
            .for_each(|value| collect_trials(value, trials)),
        _ => {}
    }
}

/// Checks that no process still has the run's folder as its working directory.
fn no_process_left_behind(root: &std::path::Path) {
    let left = || {
        let output = Command::new("sh")
            .arg("-c")
            .arg("for p in /proc/[0-9]*; do readlink $p/cwd; done 2>/dev/null; true")
            .output();
        let text = String::from_utf8_lossy(&output.expect("sh should start").stdout).into_owned();
        let there = text.lines().map(std::path::Path::new);
        there.filter(|folder| *folder == root).count()
    };
    // A killed process ends only when it is scheduled once more, so the check waits.
    let patience = Instant::now() + Duration::from_secs(120);
    while left() > 0 {
        assert!(
            Instant::now() < patience,
            "{} processes are left behind",
            left()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}
