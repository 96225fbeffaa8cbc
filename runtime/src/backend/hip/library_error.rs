//! [`HiprtcLibraryError`], the error of loading AMD's compiler library.

use thiserror::Error;

use super::clang::OLDEST;
use crate::backend::shared_library::LibraryError;

/// The oldest ROCm with a clang version that the prelude is tested with.
pub(super) const NEEDED: &str = "ROCm 6.4 or newer";

/// The reason why `libhiprtc` cannot be used.
#[derive(Debug, Error)]
pub(super) enum HiprtcLibraryError {
    /// The file is not a complete library for this machine.
    #[error(transparent)]
    Load(#[from] LibraryError),
    /// The library is the compiler of ROCm 5.
    #[error("it is {soname}, which belongs to ROCm 5, but {NEEDED} is needed")]
    Rocm5 {
        /// The name that the library states for itself.
        soname: String,
    },
    /// An environment variable would add options to every compile.
    #[error("it would take options from {variable}; unset {variable}")]
    Options {
        /// The name of the variable.
        variable: &'static str,
    },
    /// The library cannot compile the first source text.
    #[error("it does not compile as {NEEDED} does: {said}")]
    DoesNotCompile {
        /// The log of that compile.
        said: String,
    },
    /// The image of the first source text does not contain the versions.
    #[error("its first image does not contain its version")]
    TellsNothing,
    /// The clang inside the library is too old.
    #[error(
        "it belongs to HIP {version}, with clang {clang}, but clang {OLDEST} is needed ({NEEDED})"
    )]
    TooOld {
        /// The version of HIP that the library belongs to.
        version: String,
        /// The major version of clang.
        clang: u32,
    },
}
