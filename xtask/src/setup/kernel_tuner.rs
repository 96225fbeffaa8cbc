//! Installs Kernel Tuner, with which tests exchange files, in a separate virtual environment below `target/`.

use std::path::Path;
use std::process::Command;

use super::apt::apt;
use super::wheels;
use crate::step;

/// The version whose formats are written and read.
pub(super) const PACKAGE: &str = "kernel-tuner==1.5.0";

/// The folder of the environment.
pub(super) const FOLDER: &str = "target/kernel-tuner";

/// Creates the environment.
///
/// # Errors
/// What to do by hand if it could not be created.
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
    // An incomplete environment would be taken for a complete one.
    let _ = std::fs::remove_dir_all(&folder);
    Err(format!(
        "pip install {PACKAGE} in a virtual environment, then set KILN_KERNEL_TUNER to its Python"
    ))
}

/// Whether the environment's Python has it.
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
