//! Errors of artifacts that a device cannot load.

#[cfg(feature = "testing")]
use kiln_spec::Backend;
use thiserror::Error;

use crate::image::ImageError;
use crate::image::amd_metadata::AmdMetadataError;

/// Why a GPU does not load an artifact; found before its driver is called.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum UnfitArtifact {
    /// It is a check build.
    #[error("it is a build for checking, which no GPU runs")]
    CheckBuild,
    /// It is for another architecture.
    #[error("it was compiled for {target}, not for {arch}")]
    OtherTarget {
        /// The target for which it was compiled.
        target: String,
        /// The device's architecture.
        arch: String,
    },
    /// Its image is not one for this device.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Its image does not describe the parameters of its kernels.
    #[error(transparent)]
    Metadata(#[from] AmdMetadataError),
    /// It is for a backend other than the test library's.
    #[cfg(feature = "testing")]
    #[error("it is for {found}, not for hip")]
    OtherBackend {
        /// Its backend.
        found: Backend,
    },
    /// The test library does not know the parameters of one of its kernels.
    #[cfg(feature = "testing")]
    #[error("`{name}` has no value")]
    NoValue {
        /// The symbol that should contain them.
        name: String,
    },
    /// The test library cannot read its symbols.
    #[cfg(feature = "testing")]
    #[error("{error}")]
    Symbols {
        /// The reader's error.
        error: object::Error,
    },
}
