//! Every kind of failure in every stage of a run, and the outcome that is stored, exported and printed.

use std::collections::BTreeMap;

use kiln_tests::capability::in_full;
use kiln_tests::command::{expect_code, stdout};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{outcomes, package, tune_in};

const SOURCE: &str = include_str!("../../../fixtures/adding/src/add.cu");
const CRATE: &str = include_str!("../../../fixtures/adding/src/lib.rs");

/// A failure in the script of the fake device, and its expected outcomes.
struct Way {
    rule: Value,
    /// The name of the outcome in the journal.
    stored: &'static str,
    /// The name of the outcome in T4.
    exported: &'static str,
    /// The texts in the summary: the kind, and a part of the reason.
    printed: [&'static str; 2],
}

fn way(
    rule: Value,
    stored: &'static str,
    exported: &'static str,
    printed: [&'static str; 2],
) -> Way {
    Way {
        rule,
        stored,
        exported,
        printed,
    }
}

fn ways() -> Vec<Way> {
    let launch = |what: &str| json!({"launch": what});
    let output = |what: Value| json!({"output": what});
    let bytes = "1099511627776 bytes needed";
    vec![
        way(
            output(json!({"scaled": 2.0})),
            "incorrect",
            "correctness",
            ["incorrect", "the baseline says"],
        ),
        way(
            launch("kernel_fault"),
            "kernel_fault",
            "runtime",
            ["kernel fault", "the script says so"],
        ),
        way(
            launch("crash"),
            "worker_lost",
            "runtime",
            ["worker lost", "signal 11 (invalid memory access)"],
        ),
        way(
            output(json!("nan")),
            "not_a_number",
            "correctness",
            ["not a number", "["],
        ),
        way(
            output(json!({"partial": 0.5})),
            "unwritten",
            "correctness",
            ["never written", "elements of"],
        ),
        way(
            launch("oom"),
            "out_of_memory",
            "runtime",
            ["out of memory", bytes],
        ),
        way(
            launch("refused"),
            "launch_refused",
            "runtime",
            ["launch refused", "the script says so"],
        ),
        way(
            launch("sticky"),
            "worker_lost",
            "runtime",
            ["worker lost", "the script says so"],
        ),
        way(
            launch("abort"),
            "worker_lost",
            "runtime",
            ["worker lost", "signal 6 (abort)"],
        ),
        way(
            json!({"launch": {"exit": 3}}),
            "worker_lost",
            "runtime",
            ["worker lost", "exit code 3"],
        ),
        way(
            output(json!("writes_behind")),
            "guard_hit",
            "correctness",
            ["guard hit", "wrote outside"],
        ),
        way(
            output(json!("changes_input")),
            "input_changed",
            "correctness",
            ["input changed", "`"],
        ),
    ]
}

/// Faults that timed launches do not show, because their data has no guard zones.
const ONLY_WHEN_VERIFIED: [&str; 1] = ["guard_hit"];

/// A package whose only other config is ten times as fast as the baseline on the fake device.
struct Tried {
    package: TempDir,
    script: String,
}

impl Tried {
    fn new(rule: Option<&Value>, from_process: u64) -> Tried {
        let crate_ = CRATE.replace("(n = 1000), ", "");
        let crate_ = crate_.replace("[64, 128, 256]", "[64, 128]");
        let package = package(&[("lib.rs", &crate_), ("add.cu", SOURCE)]);
        let when = json!({"config": {"THREADS": "128"}});
        let mut rules = vec![json!({"when": when, "time": {"base_ns": 10_000.0}})];
        let mut late = rule.cloned().unwrap_or_else(|| json!({}));
        late["when"] =
            json!({"config": {"THREADS": "128"}, "receipt": false, "from_process": from_process});
        rules.push(late);
        let script = json!({"time": {"base_ns": 100_000.0}, "rules": rules});
        let path = package.path().join("fake.json");
        std::fs::write(&path, script.to_string()).expect("a file should be written");
        let script = format!("fake:{}", path.display());
        Tried { package, script }
    }

    fn run(&self, json: bool) -> String {
        let words = format!("run --device {} --budget full --trials all", self.script);
        let mut command = tune_in(self.package.path(), &words);
        if json {
            command.arg("--json");
        }
        stdout(&expect_code(&mut command, 0))
    }
}

/// The number of the process in which each stage begins for the config. The stages are verification, the race, many
/// launches, and confirmation.
fn stages() -> BTreeMap<&'static str, u64> {
    let clean = Tried::new(None, u64::MAX);
    let report: Value = serde_json::from_str(&clean.run(true)).expect("the report should be JSON");
    let winner = &report["tasks"][0]["winner"];
    let confirmed = winner["confirm"]["processes"].as_u64();
    let confirmed = confirmed.unwrap_or_else(|| panic!("{report:#}"));
    let folder = std::fs::read_dir(clean.package.path()).expect("the folder should be read");
    let counts = folder.flatten().filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("fake.") && name != "fake.json"
    });
    let all = counts.map(|entry| entry.metadata().map_or(0, |metadata| metadata.len()));
    let all = all.max().expect("processes should have been counted");
    assert!(
        all >= confirmed + 3,
        "{all} processes, {confirmed} of them confirm"
    );
    BTreeMap::from([
        ("verify", 1),
        ("race", 2),
        ("soak", all - confirmed),
        ("confirm", all - confirmed + 1),
    ])
}

#[test]
fn every_way_to_fail_is_stored_exported_and_printed_as_itself_at_every_stage() {
    let ways = ways();
    let tried = if in_full() { ways.len() } else { 3 };
    let mut checked = 0;
    for (stage, process) in stages() {
        for way in &ways[..tried] {
            if stage != "verify" && ONLY_WHEN_VERIFIED.contains(&way.stored) {
                continue;
            }
            let case = Tried::new(Some(&way.rule), process);
            let text = case.run(false);
            let line = format!("{}, for example ", way.printed[0]);
            let said = text.lines().find(|said| said.contains(&line));
            let said = said.unwrap_or_else(|| panic!("{stage}, {}: {text}", way.stored));
            assert!(said.contains(way.printed[1]), "{stage}: {said}");
            assert!(
                !text.contains("  proven "),
                "{stage}, {}: {text}",
                way.stored
            );
            let outcomes = outcomes(case.package.path());
            let outcome = outcomes
                .iter()
                .find(|(config, _)| config.contains("THREADS=128"));
            let (_, outcome) = outcome.unwrap_or_else(|| panic!("{stage}: {outcomes:?}"));
            assert!(
                outcome.get(way.stored).is_some(),
                "{stage}, {}: {outcome}",
                way.stored
            );
            assert_eq!(exported(&case), way.exported, "{stage}, {}", way.stored);
            checked += 1;
        }
    }
    println!(
        "ways to fail: {tried} at 4 stages, {checked} cases, each stored, exported and printed as itself"
    );
}

/// The name of the config's outcome in a T4 export.
fn exported(case: &Tried) -> String {
    let mut export = tune_in(
        case.package.path(),
        "export -k tensor_add --format t4 --device fake",
    );
    let text = stdout(&expect_code(&mut export, 0));
    let document: Value = serde_json::from_str(&text).expect("the export should be JSON");
    let results = document["results"].as_array().expect("results");
    let result = results
        .iter()
        .find(|result| result["configuration"]["THREADS"] == 128);
    let result = result.unwrap_or_else(|| panic!("{document:#}"));
    result["invalidity"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_row_that_fails_in_a_smoke_test_says_how() {
    let ways = ways();
    let tried = if in_full() { ways.len() } else { 2 };
    for way in &ways[..tried] {
        let case = Tried::new(Some(&way.rule), u64::MAX);
        case.run(false);
        let path = case.package.path().join("fake.json");
        let script = std::fs::read_to_string(&path).expect("the script should be read");
        let script = script.replace(&u64::MAX.to_string(), "1");
        std::fs::write(&path, script).expect("the script should be written");
        let words = format!("smoke --device {}", case.script);
        let text = stdout(&expect_code(&mut tune_in(case.package.path(), &words), 1));
        let failed = text.lines().find(|line| line.starts_with("failed"));
        let failed = failed.unwrap_or_else(|| panic!("{}: {text}", way.stored));
        assert!(
            failed.contains(way.printed[0]) && failed.contains(way.printed[1]),
            "{failed}"
        );
    }
}
