//! NVIDIA's `cuda_occupancy.h`, which occupancy is compared with: one header of a wheel, no GPU and no toolkit needed.

use std::path::Path;
use std::process::Command;

use crate::step;

/// The wheel that it is in.
const WHEEL: &str = "nvidia-cuda-runtime==13.5.37";

/// Where it is unpacked, below the build folder.
const FOLDER: &str = "target/cuda-occupancy";

/// Unpacks it unless it is there; how to get it by hand where that fails.
///
/// # Errors
/// When there is no pip, or the wheel is not to be had.
pub fn install() -> Result<(), String> {
    let folder = step::root().join(FOLDER);
    if folder
        .join("nvidia/cu13/include/cuda_occupancy.h")
        .is_file()
    {
        eprintln!("xtask: setup: cuda_occupancy.h is there");
        return Ok(());
    }
    eprintln!("xtask: setup: will install {WHEEL} into {FOLDER}");
    let venv = folder.join("venv");
    let made = || done(Command::new("python3").arg("-m").arg("venv").arg(&venv));
    if pip("python3".as_ref(), &folder) || (made() && pip(&venv.join("bin/python3"), &folder)) {
        eprintln!("xtask: setup: installed {WHEEL} into {FOLDER}");
        return Ok(());
    }
    Err(format!(
        "python3 -m pip install --no-deps --target {FOLDER} {WHEEL}"
    ))
}

fn pip(python: &Path, folder: &Path) -> bool {
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--no-deps"]);
    install.args(["--only-binary", ":all:", "--root-user-action", "ignore"]);
    done(install.arg("--target").arg(folder).arg(WHEEL))
}

fn done(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
