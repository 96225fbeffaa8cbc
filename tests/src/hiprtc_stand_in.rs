//! A stand-in for AMD's run-time compiler, which compiles with clang.

use std::path::{Path, PathBuf};

use crate::stand_in;

/// Compiles the stand-in into a folder, with the name of a ROCm version's library.
///
/// # Panics
/// If the C compiler rejects it. If AMD's header is installed, this means that its functions differ from those of the
/// header.
pub fn build(folder: &Path, soname: &str) -> PathBuf {
    stand_in::compile(folder, soname, "hiprtc/hiprtc.c", [""; 0])
}
