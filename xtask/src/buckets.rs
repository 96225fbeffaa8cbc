//! Bar 53: tests object stores in S3 buckets. The S3 servers for these tests are installed into `target/s3`.

use std::path::PathBuf;
use std::process::Command;

use crate::setup::environment::MOTO;
use crate::step::{self, cargo};
use crate::suite::PROFILE;

/// The version of s3rver, the second S3 server, which npm installs.
const S3RVER: &str = "s3rver@3.7.1";

/// Installs the servers that are missing, builds everything with the feature `s3`, and runs the tests of stores.
///
/// # Errors
/// If a server cannot be installed, or if a test fails.
pub fn run() -> Result<(), String> {
    install()?;
    let mut stores = test();
    stores.args(["--workspace", "--features", "kiln-tests/s3"]);
    stores.args(["--test", "stores", "--", "--nocapture", "--test-threads=1"]);
    step::run("stores in buckets", &mut stores)?;
    let mut fleet = test();
    fleet.args([
        "--package",
        "kiln-fleet",
        "--features",
        "s3",
        "--lib",
        "store::",
    ]);
    step::run("requests to buckets", &mut fleet)
}

/// A `cargo test` command with a separate target folder, because enabling the feature `s3` in the suite's target folder
/// would rebuild every crate that uses the store.
fn test() -> Command {
    let mut command = cargo(&["test", "--profile", PROFILE]);
    command.env("CARGO_TARGET_DIR", folder().join("build"));
    command.env("KILN_BARS", "1");
    command
}

fn folder() -> PathBuf {
    step::root().join("target/s3")
}

/// Installs the servers that are missing. `tests/src/s3.rs` looks for the same files.
fn install() -> Result<(), String> {
    if std::env::var_os("KILN_MOTO_SERVER").is_none() && !MOTO.is_there() {
        MOTO.install()?;
    }
    let s3rver = folder().join("node_modules/.bin/s3rver");
    if std::env::var_os("KILN_S3RVER").is_none() && !s3rver.is_file() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"]);
        step::run("s3rver", npm.arg(folder()).arg(S3RVER))?;
    }
    Ok(())
}
