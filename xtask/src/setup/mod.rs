//! Installs the tools that the tests need and that are missing. Prints what will be installed, and where.

mod apt;
pub mod environment;
mod parts;
mod wheels;

use std::thread;

use apt::apt;
use parts::{Part, Source, parts};

use crate::step;

/// The folders below the root into which [`run`] installs tools.
pub fn folders() -> Vec<&'static str> {
    parts::folders()
}

/// Looks for each tool that the tests need, and installs the missing ones if possible.
///
/// # Errors
/// If `CI=true` and a required tool is missing and cannot be installed.
pub fn run() -> Result<(), String> {
    run_beside(|| Ok(()))
}

/// Like [`run`], but also does some other work while Python packages are downloaded. The work must not need these
/// packages.
///
/// # Errors
/// The errors of [`run`], then the errors of the work.
pub fn run_beside(work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let parts = parts();
    let (there, absent): (Vec<&Part>, Vec<&Part>) = parts.iter().partition(|part| part.is_there());
    for part in there {
        eprintln!("xtask: setup: {} is there", part.name);
    }
    announce(&absent);
    let packages = absent.iter().flat_map(|part| part.packages());
    let packages: Vec<&str> = packages.collect();
    if !packages.is_empty() {
        // If a package is not available, this fails, and the packages are installed one by one below.
        let _ = apt(&packages);
    }
    packages_of_lock_file()?;
    thread::scope(|scope| {
        let installing = scope.spawn(|| install_all(&absent));
        let worked = work();
        let installed = installing.join();
        installed.unwrap_or_else(|_| Err("the installation panicked".into()))?;
        worked
    })
}

/// Installs tools in parallel, because most of the time is spent downloading. Each tool has a separate folder.
fn install_all(absent: &[&Part]) -> Result<(), String> {
    thread::scope(|scope| {
        let started: Vec<_> = absent
            .iter()
            .map(|part| (*part, scope.spawn(|| install(part))))
            .collect();
        for (part, installing) in started {
            let installed = installing.join();
            match installed.unwrap_or_else(|_| Err("the installation panicked".into())) {
                Ok(()) => eprintln!("xtask: setup: {} is installed", part.name),
                Err(how) => missing(part, &how)?,
            }
        }
        Ok(())
    })
}

/// Prints what will be installed.
fn announce(absent: &[&Part]) {
    if absent.is_empty() {
        return;
    }
    eprintln!("xtask: setup: will install (`--no-install` goes on without them):");
    for part in absent {
        eprintln!("  {}: {}", part.name, part.source);
    }
}

/// Installs one tool. If this fails, returns how to install it by hand.
fn install(part: &Part) -> Result<(), String> {
    if part.is_there() {
        return Ok(());
    }
    match &part.source {
        Source::Debian(packages) => {
            let words: Vec<&str> = packages.iter().map(String::as_str).collect();
            apt(&words);
            match part.is_there() {
                true => Ok(()),
                false => Err(format!("apt-get install {}", packages.join(" "))),
            }
        }
        Source::Wheels {
            folder,
            wheels,
            holds,
        } => wheels::install(folder, wheels, *holds),
        Source::Environment(environment) => environment.install(),
    }
}

/// Reports a missing tool. It is an error in CI. Elsewhere it is a notice, and the tests that need the tool are
/// skipped and counted.
fn missing(part: &Part, how: &str) -> Result<(), String> {
    if step::in_ci() && !part.is_optional {
        return Err(format!(
            "{} is missing and could not be installed\nhelp: {how}",
            part.name
        ));
    }
    eprintln!(
        "xtask: setup: {} is missing; tests that need it will be skipped\nhelp: {how}",
        part.name
    );
    Ok(())
}

/// Downloads every package of the lock file, because tests build crates offline and enable features that the workspace
/// does not use. If a package cannot be downloaded, this is an error in CI and a notice elsewhere.
fn packages_of_lock_file() -> Result<(), String> {
    let fetched = step::cargo(&["fetch", "--locked", "--quiet"]).status();
    if fetched.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    let why = "a package of Cargo.lock is missing\nhelp: run `cargo fetch --locked` with a network";
    if step::in_ci() {
        return Err(why.into());
    }
    eprintln!("xtask: setup: {why}");
    Ok(())
}
