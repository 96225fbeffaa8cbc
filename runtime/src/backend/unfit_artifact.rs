//! Why a device does not load an artifact.

#[cfg(feature = "testing")]
use kiln_spec::Backend;
use thiserror::Error;

use crate::image::ImageError;
use crate::image::amd_metadata::AmdMetadataError;

/// Why a GPU does not load an artifact, before its driver is asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum UnfitArtifact {
    /// It is a build for checking.
    #[error("it is a build for checking, which no GPU runs")]
    CheckBuild,
    /// It is for another architecture.
    #[error("it was compiled for {target}, not for {arch}")]
    OtherTarget {
        /// What it was compiled for.
        target: String,
        /// The device's architecture.
        arch: String,
    },
    /// Its image is not one for this device.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Its image does not say what its kernels take.
    #[error(transparent)]
    Metadata(#[from] AmdMetadataError),
    /// It is for another backend than the test library's.
    #[cfg(feature = "testing")]
    #[error("it is for {found}, not for hip")]
    OtherBackend {
        /// The backend it is for.
        found: Backend,
    },
    /// The test library does not know what one of its kernels takes.
    #[cfg(feature = "testing")]
    #[error("`{name}` has no value")]
    NoValue {
        /// The symbol that should say it.
        name: String,
    },
    /// The test library cannot read its symbols.
    #[cfg(feature = "testing")]
    #[error("{error}")]
    Symbols {
        /// What the reader says.
        error: object::Error,
    },
}
