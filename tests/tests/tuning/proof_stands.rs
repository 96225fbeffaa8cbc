//! A proof is kept: a later run that has no time to measure anything does not revoke it.

use std::path::Path;

use kiln_tests::command::{expect_code, stdout, tune, workspace};
use serde_json::{Value, json};

#[test]
fn a_run_without_time_keeps_the_winner_that_an_earlier_one_proved() {
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    // A search that ran out of budget continues in the next run. On a busy machine it takes a larger budget to prove
    // something.
    let proven = ["5s", "20s", "60s", "240s", "900s"]
        .into_iter()
        .find_map(|budget| {
            let task = run(directory.path(), budget);
            let proven = task["winner"]["verdict"]["proven"].is_object();
            proven.then_some(task)
        });
    let first = proven.expect("large effects are proven in time");
    assert_eq!(first["state"], "unfinished", "the space is larger: {first}");
    let second = run(directory.path(), "1s");
    assert_eq!(second["winner"], first["winner"]);
}

/// The report's task of a run on the fake device, with a space that is too large for the budget.
fn run(folder: &Path, budget: &str) -> Value {
    let script = json!({
        "seed": 1,
        "time": {"base_ns": 100_000.0, "rugged": 3.0, "factors": {"VECTOR_WIDTH": {"4": 0.3, "2": 0.5}}},
        "noise": {"sigma": 0.005, "placement_sigma": 0.005},
    });
    let path = folder.join("script.json");
    std::fs::write(&path, script.to_string()).expect("the script should be written");
    let mut run = tune(&workspace(), &folder.join("cache"));
    run.args(["run", "-k", "gemm", "--problem", "m=64,n=64,k=64"]);
    run.args(["--json", "--trials", "all", "--budget", budget]);
    run.arg("--device").arg(format!("fake:{}", path.display()));
    let report: Value = serde_json::from_str(&stdout(&expect_code(&mut run, 0)))
        .expect("the report should be JSON");
    report["tasks"][0].clone()
}
