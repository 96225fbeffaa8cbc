//! A stand-in for AMD's run-time compiler, behind whose functions clang compiles.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{expect_code, workspace};

/// Compiles the stand-in into a folder, as the library of a ROCm version calls itself.
///
/// # Panics
/// When the C compiler refuses it: where AMD's header is installed, its functions are not those of the header then.
pub fn build(folder: &Path, soname: &str) -> PathBuf {
    let library = folder.join(soname);
    let mut compile = Command::new("cc");
    compile.args(["-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]);
    compile.args(["-Wmissing-prototypes", &format!("-Wl,-soname,{soname}")]);
    compile.arg("-o").arg(&library);
    compile.arg(workspace().join("tests/fixtures/hiprtc/hiprtc.c"));
    expect_code(&mut compile, 0);
    library
}
