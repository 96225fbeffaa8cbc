//! [`ImageError`]. Each error states the found value, the required value, and what the user can do.

use kiln_spec::{Backend, Hash};
use thiserror::Error;

use crate::device::error::DeviceError;

/// The help for an image that should be correct.
const BAKE_AGAIN: &str = "if the image was baked, run `tune bake --images` and build the program again; if it was \
                          compiled on this machine, check the compiler and the linker";

/// The reason why a device must not load an image.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The image differs from the one that was baked.
    #[error(
        "the image has hash {found}, but the one that was baked has {wanted}\nhelp: it was damaged; build the program again"
    )]
    Hash {
        /// The hash of the image.
        found: Hash,
        /// The hash in the image's baked row.
        wanted: Hash,
    },
    /// The image is for another backend.
    #[error("the image is for {found}, but the device belongs to {wanted}\nhelp: {BAKE_AGAIN}")]
    Backend {
        /// The backend for which the image was compiled.
        found: Backend,
        /// The backend of the device.
        wanted: Backend,
    },
    /// The image is not a 64-bit little-endian ELF file.
    #[error(
        "the image is not a 64-bit little-endian ELF file: it begins with {found}\nhelp: {BAKE_AGAIN}"
    )]
    NotElf {
        /// The first bytes of the image.
        found: String,
    },
    /// The image is truncated.
    #[error(
        "the image is cut off: its {part} ends at byte {needs}, but it has {has} bytes\nhelp: {BAKE_AGAIN}"
    )]
    Truncated {
        /// The part that is incomplete.
        part: String,
        /// The offset at which that part ends, in bytes.
        needs: u64,
        /// The size of the image in bytes.
        has: u64,
    },
    /// The header of the image is inconsistent.
    #[error("the image is damaged: {what}\nhelp: {BAKE_AGAIN}")]
    Damaged {
        /// The inconsistency.
        what: String,
    },
    /// The image is for another kind of processor (ELF's `e_machine`).
    #[error("the image is for {found}, not for {wanted}\nhelp: {BAKE_AGAIN}")]
    Machine {
        /// The kind of processor for which the image was compiled.
        found: String,
        /// The kind of processor that the device needs.
        wanted: String,
    },
    /// The image is for another architecture of the same kind of processor.
    #[error("the image is for {found}, but the device is {wanted}\nhelp: {BAKE_AGAIN}")]
    Architecture {
        /// The architecture for which the image was compiled.
        found: String,
        /// The architecture of the device.
        wanted: String,
    },
    /// This version of Kiln does not know the image's format, or the device does not support it.
    #[error("the image has {found}, but {wanted} is needed\nhelp: {help}")]
    Format {
        /// The format of the image.
        found: String,
        /// The formats that the device can load.
        wanted: String,
        /// What the user can do.
        help: String,
    },
    /// The driver is older than the CUDA toolkit that built the image.
    #[error(
        "the image was made by CUDA {toolkit}, but the driver here supports only CUDA {driver}\n\
         help: update the driver, or set KILN_NVRTC to NVRTC {driver} and run `tune bake --images`"
    )]
    Driver {
        /// The major version of that toolkit.
        toolkit: u32,
        /// The major version of CUDA that the driver supports.
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
