//! Checks that the data of a problem fits in the memory of the device.

use kiln_spec::{DeviceLimits, KernelSpec, Problem};

use super::error::FootprintError;

/// Checks, before anything is allocated, that the data of a problem fits in nine tenths of the device's memory. If the
/// device does not report its memory (0 bytes), every problem passes.
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
