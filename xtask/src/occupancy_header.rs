//! NVIDIA's `cuda_occupancy.h`, which occupancy is compared with: one header of a wheel, no GPU and no toolkit needed.

use crate::wheels;

/// Unpacks it unless it is there; how to get it by hand where that fails.
///
/// # Errors
/// As [`wheels::install`].
pub fn install() -> Result<(), String> {
    let wheel = "nvidia-cuda-runtime==13.5.37";
    wheels::install("target/cuda-occupancy", &[wheel], |folder| {
        let header = "nvidia/cu13/include/cuda_occupancy.h";
        folder.join(header).is_file()
    })
}
