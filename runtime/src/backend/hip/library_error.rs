//! Why one of AMD's libraries cannot be used.

use thiserror::Error;

use super::clang::OLDEST;
use crate::backend::shared_library::LibraryError;

/// The oldest ROCm whose clang is one that the prelude is tested with.
pub(super) const NEEDED: &str = "ROCm 6.4 or newer";

/// Why `libhiprtc` cannot be used.
#[derive(Debug, Error)]
pub(super) enum HiprtcLibraryError {
    /// It cannot be loaded.
    #[error(transparent)]
    Load(#[from] LibraryError),
    /// It is the compiler of ROCm 5.
    #[error("it is {soname}, of ROCm 5; {NEEDED} is needed")]
    Rocm5 {
        /// What it calls itself.
        soname: String,
    },
    /// A variable would change how it compiles.
    #[error("it would take options of {variable}; unset that")]
    Options {
        /// The environment variable.
        variable: &'static str,
    },
    /// It does not compile a first unit.
    #[error("it does not compile as {NEEDED} does: {said}")]
    DoesNotCompile {
        /// What it says.
        said: String,
    },
    /// The first unit does not hold the versions.
    #[error("its first image tells nothing")]
    TellsNothing,
    /// Its clang is too old.
    #[error("it is of HIP {version}, with clang {clang}; {OLDEST} is needed ({NEEDED})")]
    TooOld {
        /// The version of HIP.
        version: String,
        /// The major version of clang.
        clang: u32,
    },
}
