//! The tests: doctests, the baked tables, then all others through nextest if it is there.

use std::fs;

use crate::step::{self, cargo};

/// The profile of `Cargo.toml` that all of them are built in, so that the workspace is built once.
pub const PROFILE: &str = "suite";

/// Runs the doctests, the check of the baked tables, then all other tests.
///
/// # Errors
/// When a test fails.
pub fn run() -> Result<(), String> {
    let cache = step::root().join("target/tests-cache");
    let mut doctests = cargo(&["test", "--workspace", "--doc", "--quiet"]);
    let doctests = doctests.args(["--profile", PROFILE]);
    step::run("doctests", doctests.env("KILN_CACHE", &cache))?;
    let mut tables = cargo(&["run", "--quiet", "--profile", PROFILE]);
    tables.args(["--package", "kiln-tuner", "--bin", "tune"]);
    step::run("baked tables", tables.args(["--", "bake", "--check"]))?;
    let skips = step::root().join("target/kiln-skips.txt");
    // The file of an earlier run, if there is one.
    let _ = fs::remove_file(&skips);
    let mut tests = if step::there("cargo-nextest") {
        let mut tests = cargo(&["nextest", "run", "--workspace", "--no-fail-fast"]);
        tests.args(["--cargo-profile", PROFILE, "--status-level", "slow"]);
        tests
    } else {
        let mut tests = cargo(&["test", "--workspace", "--no-fail-fast"]);
        tests.args(["--profile", PROFILE]);
        // One after the other: some measure.
        tests.args(["--lib", "--bins", "--tests", "--", "--test-threads=1"]);
        tests
    };
    // Not among the user's kernels.
    let result = step::run("tests", tests.env("KILN_CACHE", &cache));
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
