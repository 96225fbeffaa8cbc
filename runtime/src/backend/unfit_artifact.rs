//! [`UnfitArtifact`], the error of an artifact that a GPU cannot load.

#[cfg(feature = "testing")]
use kiln_spec::Backend;
use thiserror::Error;

use crate::image::ImageError;
use crate::image::amd_metadata::AmdMetadataError;

/// The reason why a GPU cannot load an artifact. Kiln detects it before it calls the driver.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum UnfitArtifact {
    /// The artifact is a check build, which only the cpu device can run.
    #[error("it is a build for checking, which no GPU runs")]
    CheckBuild,
    /// The artifact is for another architecture.
    #[error("it was compiled for {target}, not for {arch}")]
    OtherTarget {
        /// The target for which it was compiled.
        target: String,
        /// The device's architecture.
        arch: String,
    },
    /// The image is not valid for this device.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The image does not describe the parameters of its kernels.
    #[error(transparent)]
    Metadata(#[from] AmdMetadataError),
    /// The artifact is not for the backend that the test library runs.
    #[cfg(feature = "testing")]
    #[error("it is for {found}, not for hip")]
    OtherBackend {
        /// The backend of the artifact.
        found: Backend,
    },
    /// The test library does not know the parameters of a kernel, because a symbol is missing.
    #[cfg(feature = "testing")]
    #[error("`{name}` has no value")]
    NoValue {
        /// The symbol that should describe them.
        name: String,
    },
    /// The test library cannot read the symbols of the image.
    #[cfg(feature = "testing")]
    #[error("{error}")]
    Symbols {
        /// The error of the ELF reader.
        error: object::Error,
    },
}
