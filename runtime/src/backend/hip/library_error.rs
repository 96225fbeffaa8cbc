//! Errors of loading AMD's libraries.

use thiserror::Error;

use super::clang::OLDEST;
use crate::backend::shared_library::LibraryError;

/// The oldest ROCm with a clang version that the prelude is tested with.
pub(super) const NEEDED: &str = "ROCm 6.4 or newer";

/// Why `libhiprtc` cannot be used.
#[derive(Debug, Error)]
pub(super) enum HiprtcLibraryError {
    /// It is not a complete library for this machine.
    #[error(transparent)]
    Load(#[from] LibraryError),
    /// It is the compiler of ROCm 5.
    #[error("it is {soname}, of ROCm 5; {NEEDED} is needed")]
    Rocm5 {
        /// Its own name.
        soname: String,
    },
    /// A variable would change how it compiles.
    #[error("it would take options of {variable}; unset that")]
    Options {
        /// The environment variable.
        variable: &'static str,
    },
    /// It does not compile the first unit.
    #[error("it does not compile as {NEEDED} does: {said}")]
    DoesNotCompile {
        /// Its log.
        said: String,
    },
    /// The image of the first unit does not contain the versions.
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
