//! Checks that every backend runs before it launches or copies, so all backends reject the same calls.

use std::any::Any;

use kiln_spec::{KernelLimits, LaunchPlan, PlanError};

use crate::device::{DeviceError, DeviceInfo, Function, KernelArgs};

/// The limits of a loaded kernel, as its image or the driver reports them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelBounds {
    /// What the kernel requires of its launches.
    pub kernel: KernelLimits,
    /// Number of parameters; `None` if it is not known.
    pub parameters: Option<usize>,
}

/// The backend's entry of a function, or an error if the function belongs to another device.
#[inline]
pub(crate) fn entry_of<E: Any>(function: &Function, device_index: u32) -> Result<&E, DeviceError> {
    let entry = function.entry(device_index);
    entry.ok_or_else(|| refused(function.symbol(), "it was loaded on another device".into()))
}

/// Checks that a launch is within the limits of the device and of the kernel, and that its number of arguments is
/// right. `of_backend` runs the additional checks of a backend.
#[inline]
pub(crate) fn check_launch(
    function: &Function,
    plan: &LaunchPlan,
    args: KernelArgs<'_>,
    info: &DeviceInfo,
    bounds: &KernelBounds,
    of_backend: impl FnOnce(&LaunchPlan) -> Result<(), PlanError>,
) -> Result<(), DeviceError> {
    let of_kernel = || bounds.kernel.check(info.key.backend, &info.limits, plan);
    plan.check(&info.limits)
        .and_then(|()| of_backend(plan))
        .and_then(|()| Ok(of_kernel()?))
        .map_err(|error| DeviceError::Plan {
            symbol: function.symbol().into(),
            error,
        })?;
    check_arguments(function.symbol(), args, bounds.parameters)
}

/// Checks the number of arguments, if the kernel's number of parameters is known.
#[inline]
pub(crate) fn check_arguments(
    symbol: &str,
    args: KernelArgs<'_>,
    parameters: Option<usize>,
) -> Result<(), DeviceError> {
    let given = args.pointers().len();
    match parameters {
        Some(wanted) if wanted != given => {
            let text = format!("{given} arguments given, but the kernel takes {wanted}");
            Err(refused(symbol, text))
        }
        _ => Ok(()),
    }
}

/// The end of a byte range, or an error if the range is not inside the allocation of `size_bytes`.
#[inline]
pub(crate) fn end_of_range(
    offset: usize,
    bytes: usize,
    size_bytes: usize,
) -> Result<usize, DeviceError> {
    let end = offset.saturating_add(bytes);
    if end <= size_bytes {
        return Ok(end);
    }
    Err(DeviceError::OutOfBounds {
        offset,
        end,
        size_bytes,
    })
}

/// Checks that an alignment is a power of two.
pub(crate) fn check_align(align: usize) -> Result<(), DeviceError> {
    if align.is_power_of_two() {
        return Ok(());
    }
    let what = format!("an alignment of {align} (not a power of two)");
    Err(DeviceError::Unsupported { what })
}

/// The error of a launch that Kiln rejected before it reached the device.
#[cold]
pub(crate) fn refused(symbol: &str, text: String) -> DeviceError {
    DeviceError::LaunchRefused {
        symbol: symbol.into(),
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ends_within_its_allocation_or_is_refused() {
        assert_eq!(end_of_range(4, 6, 10), Ok(10));
        assert!(end_of_range(5, 6, 10).is_err());
        assert!(end_of_range(usize::MAX, 2, 10).is_err());
    }
}
