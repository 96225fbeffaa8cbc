//! A stand-in for the CUDA driver, compiled with NVIDIA's own header: what Kiln asks of a driver is tried without a GPU.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::capability::cuda_occupancy;
use crate::command::{expect_code, workspace};

/// Compiles the stand-in into a folder, under the driver's name.
///
/// # Panics
/// When the C compiler refuses it: then its functions are not those of NVIDIA's header.
pub fn build(folder: &Path) -> PathBuf {
    let headers = cuda_occupancy().expect("the caller should have asked for NVIDIA's headers");
    let library = folder.join("libcuda.so.1");
    let mut compile = Command::new("cc");
    compile.args(["-O1", "-shared", "-fPIC", "-pthread", "-Wall", "-Wextra"]);
    // Each function must have been declared before, with the same types: by the header.
    compile.args([
        "-Werror",
        "-Wmissing-prototypes",
        "-Wl,-soname,libcuda.so.1",
    ]);
    compile.arg("-I").arg(headers).arg("-o").arg(&library);
    compile.arg(workspace().join("tests/fixtures/cuda_driver/driver.c"));
    expect_code(&mut compile, 0);
    library
}
