//! Reads the resources of a kernel from a cubin.

use kiln::image::cubin_info::{self, CubinInfoError};

use super::{InspectError, Resources};

/// The resources of an entry.
pub(super) fn resources(image: &[u8], symbol: &str) -> Result<Resources, InspectError> {
    let kernel = cubin_info::kernel(image, symbol).map_err(|error| match error {
        CubinInfoError::Image { what } => InspectError::Image { what },
        CubinInfoError::NotInImage { found } => InspectError::NotInImage {
            symbol: symbol.into(),
            found,
        },
    })?;
    Ok(Resources {
        registers: kernel.registers,
        scalar_registers: None,
        stack_bytes: kernel.stack_bytes,
        limits: kernel.limits,
        spills: None,
        barriers: kernel.barriers,
    })
}
