//! Unpacks Python wheels into a folder. The wheels contain compilers and headers, not Python code.

use std::path::Path;
use std::process::Command;

use super::apt::apt;
use crate::step;

/// Unpacks wheels into a folder below the root.
///
/// # Errors
/// If pip is missing or a wheel is not available. The text of the error is the command that installs the wheels by
/// hand.
pub(super) fn install(
    folder: &str,
    wheels: &[&str],
    holds: fn(&Path) -> bool,
) -> Result<(), String> {
    let path = step::root().join(folder);
    let venv = path.join("venv");
    let make = || run(Command::new("python3").arg("-m").arg("venv").arg(&venv));
    // Debian's Python has pip only in virtual environments, and these need another Debian package.
    let in_venv = || {
        make().or_else(|why| {
            if apt(&["python3-venv"]) {
                make()
            } else {
                Err(why)
            }
        })?;
        pip(&venv.join("bin/python3"), &path, wheels)
    };
    match pip("python3".as_ref(), &path, wheels).or_else(|_| in_venv()) {
        Ok(()) if holds(&path) => return Ok(()),
        Ok(()) => eprintln!("xtask: setup: the wheel does not hold what it should"),
        Err(why) => eprintln!("xtask: setup: {why}"),
    }
    Err(format!(
        "python3 -m pip install --no-deps --target {folder} {}",
        wheels.join(" ")
    ))
}

fn pip(python: &Path, folder: &Path, wheels: &[&str]) -> Result<(), String> {
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--no-deps"]);
    install.args([
        "--disable-pip-version-check",
        "--root-user-action",
        "ignore",
    ]);
    // Without `--upgrade`, pip leaves a folder as it is if an earlier list of wheels was unpacked there, and succeeds.
    install.args(["--only-binary", ":all:", "--upgrade", "--target"]);
    run(install.arg(folder).args(wheels))
}

/// Runs a command until it ends. Returns the last line of its errors if it fails.
pub(super) fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.trim().lines().last().unwrap_or("it failed").to_owned())
}
