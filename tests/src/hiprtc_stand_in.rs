//! A stand-in for AMD's run-time compiler, behind whose functions clang compiles.

use std::path::{Path, PathBuf};

use crate::stand_in;

/// Compiles the stand-in into a folder, as the library of a ROCm version calls itself.
///
/// # Panics
/// When the C compiler refuses it: where AMD's header is installed, its functions are not those of the header then.
pub fn build(folder: &Path, soname: &str) -> PathBuf {
    stand_in::compile(folder, soname, "hiprtc/hiprtc.c", [""; 0])
}
