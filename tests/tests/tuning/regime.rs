//! Cold and hot caches: measurements made in one regime are not used in the other.

use std::path::Path;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout, tune, workspace};
use serde_json::Value;

#[test]
fn results_of_cold_and_hot_caches_are_kept_apart() {
    if !have(
        "results_of_cold_and_hot_caches_are_kept_apart",
        &[Need::HostCompiler],
    ) {
        return;
    }
    let cache = tempfile::tempdir().expect("a temporary directory should be had");
    let cold = run(cache.path(), &["--regime", "cold"]);
    assert_eq!(cold["regime"], "cold");
    assert_eq!(cold["tasks"][0]["state"], "searched");
    let hot = run(cache.path(), &[]);
    assert_eq!(
        hot["regime"], "hot",
        "what the cpu has where nothing is asked for"
    );
    assert_eq!(hot["tasks"][0]["state"], "searched");
    let again = run(cache.path(), &["--regime", "cold"]);
    assert_eq!(again["tasks"][0]["state"], "known");
    assert_eq!(again["launches"], 0);
    assert_eq!(again["tasks"][0]["winner"], cold["tasks"][0]["winner"]);
    for regime in ["cold", "hot"] {
        let mut why = tune(&workspace(), cache.path());
        why.args([
            "why",
            "tensor_add",
            "T=f32,n=1048576",
            "--device",
            "cpu",
            "--json",
        ]);
        why.args(["--regime", regime]);
        let why: Value = serde_json::from_str(&stdout(&expect_code(&mut why, 0)))
            .expect("the answer should be JSON");
        assert_eq!(why["fields"]["regime"], regime);
        assert_eq!(why["stored"], true);
    }
}

fn run(cache: &Path, regime: &[&str]) -> Value {
    let mut run = tune(&workspace(), cache);
    run.args(["run", "-k", "tensor_add", "--problem", "T=f32,n=1048576"]);
    run.args([
        "--trials", "2", "--budget", "full", "--device", "cpu", "--json",
    ]);
    run.args(regime);
    serde_json::from_str(&stdout(&expect_code(&mut run, 0))).expect("the report should be JSON")
}
