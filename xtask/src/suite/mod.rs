//! Runs the tests. If nextest is installed, it runs all tests except the doctests.

mod programs;

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::step::{self, cargo};

/// The profile of `Cargo.toml` with which everything is built, so that the workspace is built only once.
pub const PROFILE: &str = "suite";

/// Builds everything and runs all tests.
///
/// # Errors
/// The errors of [`build`] and [`test()`].
pub fn run() -> Result<(), String> {
    build()?;
    test()
}

/// Checks the baked tables, runs the doctests, and then runs all other tests. Everything must already be built.
///
/// # Errors
/// If a test fails.
pub fn test() -> Result<(), String> {
    // A cache that is separate from the cache of the user's kernels.
    let cache = step::root().join("target/tests-cache");
    let mut tables = Command::new(target_dir().join(PROFILE).join("tune"));
    tables.args(["bake", "--check"]).current_dir(step::root());
    step::run("baked tables", &mut tables)?;
    let mut doctests = cargo(&["test", "--workspace", "--doc", "--quiet"]);
    let doctests = doctests.args(["--profile", PROFILE]);
    step::run("doctests", doctests.env("KILN_CACHE", &cache))?;
    let skips = step::root().join("target/kiln-skips.txt");
    // Remove the file of an earlier run, if it exists.
    let _ = fs::remove_file(&skips);
    let result = tests(&cache);
    let skipped = fs::read_to_string(&skips).unwrap_or_default();
    for line in skipped.lines() {
        eprintln!("xtask: {line}");
    }
    eprintln!(
        "xtask: {} tests skipped themselves for want of a tool, data or time",
        skipped.lines().count()
    );
    result
}

/// Builds every test, and `tune`, for the steps that follow.
///
/// # Errors
/// If cargo fails.
pub fn build() -> Result<(), String> {
    let mut build = cargo(&["test", "--workspace", "--no-run", "--quiet"]);
    build.args(["--profile", PROFILE]);
    build.args(["--lib", "--bins", "--tests", "--examples"]);
    step::run("building the tests", &mut build)
}

fn tests(cache: &Path) -> Result<(), String> {
    if !step::there("cargo-nextest") {
        return programs::run(&[("KILN_CACHE", cache)]);
    }
    let mut tests = cargo(&["nextest", "run", "--workspace", "--no-fail-fast"]);
    tests.args(["--cargo-profile", PROFILE, "--status-level", "slow"]);
    tests.args(["--test-threads", &lanes().to_string()]);
    step::run("tests", tests.env("KILN_CACHE", cache))
}

/// Number of tests that run in parallel. It is larger than the number of processors, because tests spend much of
/// their time waiting for child processes.
fn lanes() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    processors + processors.div_ceil(2)
}

/// The target folder of cargo.
fn target_dir() -> std::path::PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| step::root().join("target"), Into::into)
}
