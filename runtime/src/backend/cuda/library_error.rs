//! Errors of loading NVIDIA's libraries.

use std::ffi::NulError;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::backend::shared_library::{FileFault, LibraryError};

/// Why NVRTC cannot be used.
#[derive(Debug, Error)]
pub(super) enum NvrtcLibraryError {
    /// It is not a complete library for this machine.
    #[error(transparent)]
    Load(#[from] LibraryError),
    /// NVRTC does not tell its version.
    #[error("nvrtcVersion gives {code} and version {major}.{minor}")]
    Version {
        /// The result code.
        code: i32,
        /// The returned major version.
        major: i32,
        /// The returned minor version.
        minor: i32,
    },
    /// It needs a file that is missing.
    #[error("it is not there")]
    Missing,
    /// NVRTC is newer than the driver.
    #[error("NVRTC {major}.{minor} makes images that the driver, of CUDA {newest}, does not load")]
    NewerThanDriver {
        /// NVRTC's major version.
        major: u32,
        /// NVRTC's minor version.
        minor: u32,
        /// The newest major version that the driver supports.
        newest: u32,
    },
    /// Any of these errors, with the file.
    #[error("{}: {error}", file.display())]
    In {
        /// The file.
        file: PathBuf,
        /// The error.
        error: Box<NvrtcLibraryError>,
    },
}

impl NvrtcLibraryError {
    /// An error, with the name of the file.
    pub fn of_file(file: &Path, error: impl Into<NvrtcLibraryError>) -> NvrtcLibraryError {
        NvrtcLibraryError::In {
            file: file.to_owned(),
            error: Box::new(error.into()),
        }
    }
}

/// Why NVML does not answer.
#[derive(Debug, Error)]
pub(super) enum NvmlError {
    /// It cannot be loaded.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// A call failed.
    #[error("{call}: error {code}{}", text.as_ref().map(|text| format!(" ({text})")).unwrap_or_default())]
    Call {
        /// The function.
        call: &'static str,
        /// Its result code.
        code: i32,
        /// The library's description of it.
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
