//! Builds the copied programs, finds them in cargo's output, and strips their debug information.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Options;
use crate::step::{self, cargo};

/// The test programs that need no cargo, and one of `tune`'s, since building it also builds `tune`.
const PROGRAMS: [&str; 4] = ["conformance", "library", "device_prelude", "program"];

/// Those that are copied.
const CARRIED: [&str; 4] = ["tune", "conformance", "library", "device_prelude"];

/// The cuBLAS peer, from a separate workspace.
const CUBLAS: &str = "kiln-cublas-peer";

/// Builds all of them and copies them into a folder.
///
/// # Errors
/// If something does not build, or cannot be copied.
pub(super) fn carry(to: &Path, options: &Options) -> Result<(), String> {
    // For the whole workspace, as the suite builds them: with the same features, so that they are built only once.
    let mut build = cargo(&["test", "--no-run", "--workspace"]);
    build.args(["--profile", &options.profile]);
    for test in PROGRAMS {
        build.args(["--test", test]);
    }
    carry_built(build, &CARRIED, to)?;
    if options.without_cublas {
        return Ok(());
    }
    let manifest = "benches/peers/cublas/Cargo.toml";
    let mut peer = cargo(&["build", "--release", "--manifest-path", manifest]);
    peer.arg("--target-dir")
        .arg(step::root().join("target/cublas-peer"));
    if let Err(why) = carry_built(peer, &[CUBLAS], to) {
        eprintln!("xtask: gpu-day: the cuBLAS peer stays at home: {why}");
    }
    Ok(())
}

/// Runs a cargo command that builds, and copies the executables with these names.
fn carry_built(mut build: Command, names: &[&str], to: &Path) -> Result<(), String> {
    build.args(["--message-format", "json-render-diagnostics"]);
    eprintln!("xtask: gpu-day: building {}", names.join(", "));
    let output = build.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("gpu-day: cannot start cargo: {error}"))?;
    if !output.status.success() {
        let names = names.join(", ");
        return Err(format!("gpu-day: {names} did not build: {}", output.status));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let built: Vec<(String, PathBuf)> = said.lines().filter_map(executable).collect();
    for &name in names {
        let found = built.iter().find(|(target, _)| target == name);
        let (_, path) = found.ok_or_else(|| format!("gpu-day: cargo built no {name}"))?;
        strip(path, &to.join(name))?;
    }
    Ok(())
}

/// The target and file of the executable in a message of cargo.
fn executable(line: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(line).ok()?;
    let path = message["executable"].as_str()?;
    let target = message["target"]["name"].as_str()?;
    Some((target.to_owned(), path.into()))
}

/// Copies a program without its debug information; unchanged if `strip` is missing.
fn strip(from: &Path, to: &Path) -> Result<(), String> {
    let mut strip = Command::new("strip");
    if strip
        .arg("-o")
        .arg(to)
        .arg(from)
        .status()
        .is_ok_and(|status| status.success())
    {
        return Ok(());
    }
    let copied = fs::copy(from, to);
    copied.map_err(|error| format!("gpu-day: {}: {error}", to.display()))?;
    Ok(())
}
