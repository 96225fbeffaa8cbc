//! Errors of loading NVIDIA's libraries, NVRTC and NVML.

use std::ffi::NulError;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::backend::shared_library::{FileFault, LibraryError};

/// The reason why NVRTC cannot be used.
#[derive(Debug, Error)]
pub(super) enum NvrtcLibraryError {
    /// The file is not a complete library for this machine.
    #[error(transparent)]
    Load(#[from] LibraryError),
    /// NVRTC does not report a valid version.
    #[error("nvrtcVersion gives {code} and version {major}.{minor}")]
    Version {
        /// The result code of `nvrtcVersion`.
        code: i32,
        /// The returned major version.
        major: i32,
        /// The returned minor version.
        minor: i32,
    },
    /// A file that NVRTC needs is missing.
    #[error("it is not there")]
    Missing,
    /// The driver cannot load the images of this NVRTC, because NVRTC's major version is newer.
    #[error(
        "NVRTC {major}.{minor} produces images that the driver, which supports CUDA {newest}, does not load"
    )]
    NewerThanDriver {
        /// NVRTC's major version.
        major: u32,
        /// NVRTC's minor version.
        minor: u32,
        /// The newest major version that the driver supports.
        newest: u32,
    },
    /// One of these errors, with the file in which it occurred.
    #[error("{}: {error}", file.display())]
    In {
        /// The path of the file.
        file: PathBuf,
        /// The error itself.
        error: Box<NvrtcLibraryError>,
    },
}

impl NvrtcLibraryError {
    /// Adds the path of the file to an error.
    pub fn of_file(file: &Path, error: impl Into<NvrtcLibraryError>) -> NvrtcLibraryError {
        NvrtcLibraryError::In {
            file: file.to_owned(),
            error: Box::new(error.into()),
        }
    }
}

/// The reason why NVML cannot be used.
#[derive(Debug, Error)]
pub(super) enum NvmlError {
    /// The library cannot be loaded.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// A call of a function failed.
    #[error("{call}: error {code}{}", text.as_ref().map(|text| format!(" ({text})")).unwrap_or_default())]
    Call {
        /// The name of the function.
        call: &'static str,
        /// The result code of the call.
        code: i32,
        /// The library's description of the code; `None` if it has none.
        text: Option<String>,
    },
    /// The device's UUID is not a C string.
    #[error(transparent)]
    Uuid(#[from] NulError),
}

impl From<FileFault> for NvmlError {
    fn from(fault: FileFault) -> NvmlError {
        NvmlError::Library(fault.into())
    }
}
