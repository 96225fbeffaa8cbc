//! Kernel Tuner, which files are exchanged with in tests: a virtual environment of its own below `target/`.

use std::path::Path;
use std::process::Command;

use crate::apt::apt;
use crate::step;

/// The version whose formats are written and read.
const PACKAGE: &str = "kernel-tuner==1.5.0";

/// Makes the environment, unless it is there or another is given.
///
/// # Errors
/// What to do by hand where it could not be made.
pub fn install() -> Result<(), String> {
    if let Some(given) = std::env::var_os("KILN_KERNEL_TUNER").filter(|value| !value.is_empty()) {
        eprintln!(
            "xtask: setup: Kernel Tuner is given: KILN_KERNEL_TUNER={}",
            given.display()
        );
        return Ok(());
    }
    let folder = step::root().join("target/kernel-tuner");
    if works(&folder) {
        eprintln!("xtask: setup: Kernel Tuner is there: {}", folder.display());
        return Ok(());
    }
    eprintln!(
        "xtask: setup: will install {PACKAGE} into {}",
        folder.display()
    );
    let made = make(&folder) || (apt(&["python3-venv"]) && make(&folder));
    if made && works(&folder) {
        eprintln!("xtask: setup: installed {PACKAGE} by pip");
        return Ok(());
    }
    // Half an environment would be taken for a whole one.
    let _ = std::fs::remove_dir_all(&folder);
    Err(format!(
        "pip install {PACKAGE} in a virtual environment, then set KILN_KERNEL_TUNER to its Python"
    ))
}

/// Whether the environment's Python has it.
fn works(folder: &Path) -> bool {
    let mut python = Command::new(folder.join("bin/python"));
    python.args(["-c", "import kernel_tuner, jsonschema"]);
    python.output().is_ok_and(|output| output.status.success())
}

fn make(folder: &Path) -> bool {
    let done = |command: &mut Command| match command.output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let last = said.trim().lines().last().unwrap_or_default().to_owned();
            eprintln!("xtask: setup: {last}");
            false
        }
        Err(_) => false,
    };
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv"]).arg(folder);
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]);
    pip.args(["--only-binary", ":all:", PACKAGE]);
    done(&mut environment) && done(&mut pip)
}
