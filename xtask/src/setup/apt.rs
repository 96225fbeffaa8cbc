//! Installs Debian packages.

use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::step;

/// Installs Debian packages if this is a Debian machine and the user has the right to install them. Prints the
/// packages first, and the reason if the installation fails. Returns whether the packages were installed.
pub(crate) fn apt(packages: &[&str]) -> bool {
    if !step::there("apt-get") {
        return false;
    }
    // Only one thread may call apt-get at a time, because apt-get fails if another instance runs.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    eprintln!(
        "xtask: setup: will install by apt-get: {}",
        packages.join(" ")
    );
    let mut install = vec!["install", "-y", "-qq", "--no-install-recommends"];
    install.extend(packages);
    // If the installation fails, the package lists may be old or missing, so update them and try again.
    let installed =
        quiet(&install).or_else(|_| quiet(&["update", "-qq"]).and_then(|()| quiet(&install)));
    match installed {
        Ok(()) => eprintln!("xtask: setup: installed {} by apt-get", packages.join(", ")),
        Err(ref why) => eprintln!("xtask: setup: apt-get: {why}"),
    }
    installed.is_ok()
}

/// The first version of a program whose Debian package is available. Updates the package lists if none is: a new machine
/// may have no lists.
pub(super) fn offered(program: &str, versions: impl Iterator<Item = u32> + Clone) -> Option<u32> {
    let first = || {
        let mut versions = versions.clone();
        versions.find(|version| is_known(&format!("{program}-{version}")))
    };
    first().or_else(|| {
        quiet(&["update", "-qq"]).ok()?;
        first()
    })
}

/// Whether the package lists of this machine contain a package.
fn is_known(package: &str) -> bool {
    let mut show = Command::new("apt-cache");
    let shown = show.args(["show", "--quiet", package]).output();
    shown.is_ok_and(|shown| shown.status.success() && !shown.stdout.is_empty())
}

/// Runs apt-get without questions. Returns the first line of its errors if it fails.
fn quiet(arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("apt-get");
    command
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive");
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let mut lines = said.lines().filter(|line| line.starts_with("E: "));
    Err(lines.next().unwrap_or("it failed").to_owned())
}
