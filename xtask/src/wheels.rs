//! Python wheels that are unpacked into a folder for what is in them: compilers and headers, no Python.

use std::path::Path;
use std::process::Command;

use crate::step;

/// Unpacks wheels into a folder below the root unless `is_there`; how to get them by hand where that fails.
///
/// # Errors
/// When there is no pip, or a wheel is not to be had.
pub fn install(
    folder: &str,
    wheels: &[&str],
    is_there: impl Fn(&Path) -> bool,
) -> Result<(), String> {
    let path = step::root().join(folder);
    let names = wheels.join(" ");
    if is_there(&path) {
        eprintln!("xtask: setup: {names} is there: {folder}");
        return Ok(());
    }
    eprintln!("xtask: setup: will install {names} into {folder}");
    let venv = path.join("venv");
    let made = || done(Command::new("python3").arg("-m").arg("venv").arg(&venv));
    let installed = pip("python3".as_ref(), &path, wheels)
        || (made() && pip(&venv.join("bin/python3"), &path, wheels));
    if installed && is_there(&path) {
        eprintln!("xtask: setup: installed {names} into {folder}");
        return Ok(());
    }
    Err(format!(
        "python3 -m pip install --no-deps --target {folder} {names}"
    ))
}

fn pip(python: &Path, folder: &Path, wheels: &[&str]) -> bool {
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--no-deps"]);
    install.args(["--only-binary", ":all:", "--root-user-action", "ignore"]);
    done(install.arg("--target").arg(folder).args(wheels))
}

fn done(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
