//! Why an image is refused: what was found, what was needed, what to do.

use kiln_spec::{Backend, Hash};
use thiserror::Error;

use crate::device::error::DeviceError;

/// The help for every image that was correct when it was baked.
const BAKE_AGAIN: &str = "run `tune bake --images` and build the program again";

/// An image that a device must not load.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// It is not the image that was baked.
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
        /// The backend it was compiled for.
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
    /// It ends before what its header announces.
    #[error(
        "the image is cut off: its {part} ends at byte {needs}, but it has {has} bytes\nhelp: {BAKE_AGAIN}"
    )]
    Truncated {
        /// What is not wholly there.
        part: String,
        /// Where that part ends.
        needs: u64,
        /// Bytes that are there.
        has: u64,
    },
    /// Its header contradicts itself.
    #[error("the image is damaged: {what}\nhelp: {BAKE_AGAIN}")]
    Damaged {
        /// What makes no sense.
        what: String,
    },
    /// It is for another kind of processor.
    #[error("the image is for {found}, not for {wanted}\nhelp: {BAKE_AGAIN}")]
    Machine {
        /// The kind of processor it is for.
        found: String,
        /// The kind of the device.
        wanted: String,
    },
    /// It is for another architecture of the same kind.
    #[error(
        "the image is for {found}, but the device is {wanted}\nhelp: {BAKE_AGAIN}, with a row of this device"
    )]
    Architecture {
        /// The architecture it was compiled for.
        found: String,
        /// The architecture of the device.
        wanted: String,
    },
    /// It is of a format that this version does not know, or that the device does not take.
    #[error("the image is of {found}, but {wanted} is needed\nhelp: {help}")]
    Format {
        /// Its format.
        found: String,
        /// The formats that can be loaded.
        wanted: String,
        /// What to do.
        help: String,
    },
    /// The driver is older than the toolkit that made it.
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
