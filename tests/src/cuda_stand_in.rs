//! Stand-ins for the CUDA driver and for NVML, so Kiln's use of both can be tested without a GPU. The stand-in for the
//! driver is compiled with NVIDIA's own header.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::capability::cuda_occupancy;
use crate::stand_in;

/// Compiles the stand-in for NVML into a folder, and gives it the name of NVIDIA's library.
///
/// # Panics
/// If the C compiler rejects the stand-in.
pub fn build_nvml(folder: &Path) -> PathBuf {
    // No installed header declares the functions of NVML.
    let options = ["-Wno-missing-prototypes"];
    stand_in::compile(folder, "libnvidia-ml.so.1", "nvml/nvml.c", options)
}

/// Compiles the stand-in for the driver into a folder, and gives it the name of the driver's library.
///
/// # Panics
/// If the C compiler rejects the stand-in because its functions differ from those of NVIDIA's header.
pub fn build(folder: &Path) -> PathBuf {
    let headers = cuda_occupancy().expect("the caller should have asked for NVIDIA's headers");
    let options = [OsStr::new("-pthread"), OsStr::new("-I"), headers.as_ref()];
    stand_in::compile(folder, "libcuda.so.1", "cuda_driver/driver.c", options)
}
