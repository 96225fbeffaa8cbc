//! The tests: everything but the doctests through nextest where it is there.

use crate::step::{self, cargo};

/// Runs the doctests, then all other tests; the runner's own summary comes last.
///
/// # Errors
/// When a test fails.
pub fn run() -> Result<(), String> {
    step::run(
        "doctests",
        &mut cargo(&["test", "--workspace", "--doc", "--quiet"]),
    )?;
    step::run("baked tables", &mut cargo(&["tune", "bake", "--check"]))?;
    if step::there("cargo-nextest") {
        step::run(
            "tests",
            &mut cargo(&[
                "nextest",
                "run",
                "--workspace",
                "--release",
                "--no-fail-fast",
                "--status-level",
                "slow",
            ]),
        )
    } else {
        step::run(
            "tests",
            &mut cargo(&[
                "test",
                "--workspace",
                "--release",
                "--no-fail-fast",
                "--lib",
                "--bins",
                "--tests",
            ]),
        )
    }
}
