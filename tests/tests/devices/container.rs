//! `tune` in a container, where it is process 1.
use std::process::Command;

use kiln_tests::capability::{Need, have, process_1};
use kiln_tests::command::{expect_code, stderr, stdout, tune_alone, workspace};
use serde_json::Value;

#[test]
fn a_run_as_process_1_starts_workers_and_measures() {
    let test = "a_run_as_process_1_starts_workers_and_measures";
    if !have(test, &[Need::Namespaces]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder should be made");
    let mut run = tune_alone(&workspace(), &folder.path().join("cache"));
    run.args([
        "run", "--json", "--device", "fake", "-k", "gemm", "--trials", "4",
    ]);
    run.args(["--problem", "m=64,n=64,k=64"]);
    let output = expect_code(&mut process_1(&run), 0);
    let report: Value = serde_json::from_str(&stdout(&output)).expect("it should be JSON");
    let measured = &report["tasks"][0]["outcomes"]["measured"];
    assert!(measured.as_u64() >= Some(1), "{report}");
}

#[test]
fn a_worker_whose_parent_is_gone_ends() {
    let folder = tempfile::tempdir().expect("a folder should be made");
    let mut worker: Command = tune_alone(folder.path(), folder.path());
    // The number of a process that is not the parent.
    worker.arg("worker").env("KILN_WORKER_PARENT", "999999999");
    let said = stderr(&expect_code(&mut worker, 1));
    assert!(said.contains("the parent process is gone"), "{said}");
}
