//! Installs Kernel Tuner into a virtual environment below `target/`. Tests exchange files with it.

use std::path::Path;
use std::process::Command;

use super::apt::apt;
use super::wheels;
use crate::step;

/// The version whose file formats Kiln reads and writes.
pub(super) const PACKAGE: &str = "kernel-tuner==1.5.0";

/// The folder of the virtual environment.
pub(super) const FOLDER: &str = "target/kernel-tuner";

/// Creates the virtual environment.
///
/// # Errors
/// How to create the environment by hand, if it could not be created.
pub(super) fn install() -> Result<(), String> {
    let folder = step::root().join(FOLDER);
    let make = || make(&folder);
    let made = make().or_else(|why| {
        if apt(&["python3-venv"]) {
            make()
        } else {
            Err(why)
        }
    });
    if let Err(why) = &made {
        eprintln!("xtask: setup: {why}");
    }
    if made.is_ok() && is_there() {
        return Ok(());
    }
    // Remove the incomplete environment, because it would be mistaken for a complete one.
    let _ = std::fs::remove_dir_all(&folder);
    Err(format!(
        "pip install {PACKAGE} in a virtual environment, then set KILN_KERNEL_TUNER to its Python"
    ))
}

/// Whether Kernel Tuner can be imported in the virtual environment.
pub(super) fn is_there() -> bool {
    let mut python = Command::new(step::root().join(FOLDER).join("bin/python"));
    python.args(["-c", "import kernel_tuner, jsonschema"]);
    python.output().is_ok_and(|output| output.status.success())
}

fn make(folder: &Path) -> Result<(), String> {
    let mut environment = Command::new("python3");
    wheels::run(environment.args(["-m", "venv"]).arg(folder))?;
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]);
    wheels::run(pip.args(["--only-binary", ":all:", PACKAGE]))
}
