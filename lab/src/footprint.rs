//! Checks that the data of a problem fits the device.

use kiln_spec::{DeviceLimits, KernelSpec, Problem};

use super::error::FootprintError;

/// Refuses a problem whose data does not fit the device, before anything is allocated.
///
/// # Errors
/// If the data does not fit, or its size has no value.
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
