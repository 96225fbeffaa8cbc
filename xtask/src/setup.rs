//! Installs what the tests need and is missing, and says what it did.

use std::process::Command;

use crate::{occupancy_header, step};

/// Compilers that the tests run kernels through, with the Debian packages that bring them.
const CLANG: &[(&str, &[&str])] = &[
    ("clang++-22", &["clang-22", "lld-22", "libclang-rt-22-dev"]),
    ("clang++-19", &["clang-19", "lld-19", "libclang-rt-19-dev"]),
];

/// Looks for each tool and installs the missing ones where that is possible.
///
/// # Errors
/// When `CI=true` and a needed tool is neither there nor to be had.
pub fn run() -> Result<(), String> {
    if !step::there("g++") && !apt(&["g++"]) {
        missing("g++", "install a C++ compiler: apt-get install g++")?;
    }
    let found = CLANG.iter().find(|(program, _)| step::there(program));
    match found {
        Some((program, _)) => eprintln!("xtask: setup: {program} is there"),
        None if CLANG.iter().rev().any(|(_, packages)| apt(packages)) => {}
        None => missing(
            "clang 19 or newer",
            "apt-get install clang-19 lld-19 libclang-rt-19-dev",
        )?,
    }
    for (tool, packages) in [
        ("objdump", ["binutils"]),
        ("valgrind", ["valgrind"]),
        ("git", ["git"]),
    ] {
        if !step::there(tool) && !apt(&packages) {
            missing(tool, &format!("apt-get install {}", packages[0]))?;
        }
    }
    if let Err(how) = occupancy_header::install() {
        missing("cuda_occupancy.h", &how)?;
    }
    Ok(())
}

/// A missing tool is an error in CI and a notice elsewhere: the tests that need it then skip, counted.
fn missing(tool: &str, how: &str) -> Result<(), String> {
    if std::env::var("CI").as_deref() == Ok("true") {
        return Err(format!(
            "{tool} is missing and could not be installed\nhelp: {how}"
        ));
    }
    eprintln!("xtask: setup: {tool} is missing; tests that need it will be skipped\nhelp: {how}");
    Ok(())
}

/// Installs Debian packages, if this is a Debian machine and we may.
fn apt(packages: &[&str]) -> bool {
    if !step::there("apt-get") {
        return false;
    }
    let quiet = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive");
        command.output().is_ok_and(|output| output.status.success())
    };
    let mut install = vec!["install", "-y", "-qq", "--no-install-recommends"];
    install.extend(packages);
    let installed = quiet(&install) || (quiet(&["update", "-qq"]) && quiet(&install));
    if installed {
        eprintln!("xtask: setup: installed {} by apt-get", packages.join(", "));
    }
    installed
}
