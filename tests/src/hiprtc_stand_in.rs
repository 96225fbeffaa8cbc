//! A stand-in for `libhiprtc`, AMD's run-time compiler. It compiles kernels with clang.

use std::path::{Path, PathBuf};

use crate::stand_in;

/// Compiles the stand-in into a folder, and gives it the name of the library of a ROCm version.
///
/// # Panics
/// If the C compiler rejects the stand-in. If AMD's header is installed, the reason may be that the functions differ
/// from those of the header.
pub fn build(folder: &Path, soname: &str) -> PathBuf {
    stand_in::compile(folder, soname, "hiprtc/hiprtc.c", [""; 0])
}
