//! The tests: everything but the doctests through nextest where it is there.

use std::fs;

use crate::step::{self, cargo};

/// Runs the doctests, the check of the baked tables, then all other tests.
///
/// # Errors
/// When a test fails.
pub fn run() -> Result<(), String> {
    // With the profile of all other tests, so that the workspace is built once.
    let doctests = &mut cargo(&["test", "--workspace", "--doc", "--release", "--quiet"]);
    step::run("doctests", doctests)?;
    step::run("baked tables", &mut cargo(&["tune", "bake", "--check"]))?;
    let skips = step::root().join("target/kiln-skips.txt");
    // The file of an earlier run, if there is one.
    let _ = fs::remove_file(&skips);
    let mut tests = if step::there("cargo-nextest") {
        let words = [
            "nextest",
            "run",
            "--workspace",
            "--release",
            "--no-fail-fast",
        ];
        let mut tests = cargo(&words);
        tests.args(["--status-level", "slow"]);
        tests
    } else {
        let words = ["test", "--workspace", "--release", "--no-fail-fast"];
        let mut tests = cargo(&words);
        // One after the other: some measure.
        tests.args(["--lib", "--bins", "--tests", "--", "--test-threads=1"]);
        tests
    };
    let result = step::run("tests", &mut tests);
    let skipped = fs::read_to_string(&skips).unwrap_or_default();
    for line in skipped.lines() {
        eprintln!("xtask: {line}");
    }
    eprintln!(
        "xtask: {} tests skipped themselves for want of a tool or data",
        skipped.lines().count()
    );
    result
}
