//! Errors of images: the found and the required value, and the help.

use kiln_spec::{Backend, Hash};
use thiserror::Error;

use crate::device::error::DeviceError;

/// The help for every image that was correct when it was baked.
const BAKE_AGAIN: &str = "run `tune bake --images` and build the program again";

/// An image that a device must not load.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// It is not the baked image.
    #[error(
        "the image has hash {found}, but the one that was baked has {wanted}\nhelp: it was damaged; build the program again"
    )]
    Hash {
        /// The hash of its bytes.
        found: Hash,
        /// The hash in its row.
        wanted: Hash,
    },
    /// It is for another backend.
    #[error("the image is for {found}, but the device is of {wanted}\nhelp: {BAKE_AGAIN}")]
    Backend {
        /// The backend for which it was compiled.
        found: Backend,
        /// The backend of the device.
        wanted: Backend,
    },
    /// It is not a 64-bit little-endian ELF file.
    #[error(
        "the image is not a 64-bit little-endian ELF file: it begins with {found}\nhelp: {BAKE_AGAIN}"
    )]
    NotElf {
        /// Its first bytes.
        found: String,
    },
    /// It ends before the end of its content.
    #[error(
        "the image is cut off: its {part} ends at byte {needs}, but it has {has} bytes\nhelp: {BAKE_AGAIN}"
    )]
    Truncated {
        /// The incomplete part.
        part: String,
        /// The end of that part.
        needs: u64,
        /// Its size in bytes.
        has: u64,
    },
    /// Its header is inconsistent.
    #[error("the image is damaged: {what}\nhelp: {BAKE_AGAIN}")]
    Damaged {
        /// The inconsistency.
        what: String,
    },
    /// It is for another kind of processor.
    #[error("the image is for {found}, not for {wanted}\nhelp: {BAKE_AGAIN}")]
    Machine {
        /// Its kind of processor.
        found: String,
        /// The kind of the device.
        wanted: String,
    },
    /// It is for another architecture of the same kind.
    #[error(
        "the image is for {found}, but the device is {wanted}\nhelp: {BAKE_AGAIN}, with a row of this device"
    )]
    Architecture {
        /// The architecture for which it was compiled.
        found: String,
        /// The architecture of the device.
        wanted: String,
    },
    /// Its format is unknown to this version, or not accepted by the device.
    #[error("the image is of {found}, but {wanted} is needed\nhelp: {help}")]
    Format {
        /// Its format.
        found: String,
        /// The formats that can be loaded.
        wanted: String,
        /// The remedy.
        help: String,
    },
    /// The driver is older than the toolkit that built it.
    #[error(
        "the image was made by CUDA {toolkit}, but the driver here is of CUDA {driver}\n\
         help: update the driver, or set KILN_NVRTC to NVRTC {driver} and run `tune bake --images`"
    )]
    Driver {
        /// The major version of the toolkit.
        toolkit: u32,
        /// The major version that the driver supports.
        driver: u32,
    },
}

impl From<ImageError> for DeviceError {
    fn from(error: ImageError) -> DeviceError {
        DeviceError::Load {
            text: error.to_string(),
        }
    }
}
