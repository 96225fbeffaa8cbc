//! Checks that the data of a problem fits the memory of the device.

use kiln_spec::{DeviceLimits, KernelSpec, Problem};

use super::error::FootprintError;

/// Checks that the data of a problem fits nine tenths of the device's memory, before anything is allocated. A device
/// that does not report its memory (0 bytes) accepts every problem.
///
/// # Errors
/// If the data does not fit, or its size cannot be computed.
pub fn check(
    spec: &KernelSpec,
    problem: &Problem,
    limits: &DeviceLimits,
) -> Result<(), FootprintError> {
    let bytes = spec.footprint_bytes(problem)?;
    let room = limits.memory_bytes / 10 * 9;
    if limits.memory_bytes > 0 && bytes > room {
        return Err(FootprintError::TooLarge { bytes, room });
    }
    Ok(())
}
