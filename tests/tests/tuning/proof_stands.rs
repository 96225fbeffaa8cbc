//! A proof is kept. A later run can replace it only by a config that raced against the proven config.

use std::path::Path;

use kiln_tests::command::{expect_code, stdout, tune_alone, workspace};
use serde_json::{Value, json};

#[test]
fn a_run_without_time_keeps_the_winner_that_an_earlier_one_proved() {
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    let first = proven(directory.path());
    let second = run(
        directory.path(),
        &[],
        &["--trials", "all", "--budget", "1s"],
    );
    assert_eq!(second["winner"], first["winner"]);
}

#[test]
fn a_winner_that_could_not_race_again_is_not_replaced_by_a_slower_one() {
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    let first = proven(directory.path());
    let config = first["winner"]["config"].as_str();
    let config = config.expect("a config is text");
    let values = config.split(',').filter_map(|one| one.split_once('='));
    let values: serde_json::Map<String, Value> = values
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    // Now the proven config cannot be compiled, but other configs that are faster than the baseline can be.
    let lost = json!({"when": {"config": values}, "compile": {"fails": "no space left on device"}});
    let trials = first["trials"].as_u64().expect("a count is a number");
    let more = (trials + 20).to_string();
    let second = run(
        directory.path(),
        &[lost],
        &["--trials", &more, "--budget", "full"],
    );
    assert!(second["trials"].as_u64() > Some(trials), "{second}");
    assert_eq!(second["winner"], first["winner"], "{second}");
}

/// The task of a run that proved a config, and that did not search the whole space.
fn proven(folder: &Path) -> Value {
    // A search that ran out of budget continues in the next run. On a busy machine, a proof needs a larger budget.
    let tasks = ["5s", "20s", "60s", "240s", "900s"]
        .into_iter()
        .map(|budget| run(folder, &[], &["--trials", "all", "--budget", budget]));
    let mut proven = tasks.filter(|task| task["winner"]["verdict"]["proven"].is_object());
    let task = proven.next().expect("large effects are proven in time");
    assert_eq!(task["state"], "unfinished", "the space is larger: {task}");
    task
}

/// Runs `tune` on the fake device, with a space that is too large for small budgets, and returns the task from the
/// report.
fn run(folder: &Path, rules: &[Value], words: &[&str]) -> Value {
    let script = json!({
        "seed": 1,
        "time": {"base_ns": 100_000.0, "rugged": 3.0, "factors": {"VECTOR_WIDTH": {"4": 0.3, "2": 0.5}}},
        "noise": {"sigma": 0.005, "placement_sigma": 0.005},
        "rules": rules,
    });
    let path = folder.join("script.json");
    std::fs::write(&path, script.to_string()).expect("the script should be written");
    let mut run = tune_alone(&workspace(), &folder.join("cache"));
    run.args(["run", "-k", "gemm", "--problem", "m=64,n=64,k=64", "--json"]);
    run.args(words);
    run.arg("--device").arg(format!("fake:{}", path.display()));
    let report: Value = serde_json::from_str(&stdout(&expect_code(&mut run, 0)))
        .expect("the report should be JSON");
    report["tasks"][0].clone()
}
