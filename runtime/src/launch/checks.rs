//! Checks that every backend runs before it launches or copies, so all backends reject the same calls.

use std::any::Any;

use kiln_spec::{DeviceLimits, LaunchPlan, PlanError};

use crate::device::{DeviceError, Function, KernelArgs};

/// The limits of a loaded kernel, as its image or the driver reports them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelBounds {
    /// Static shared memory that the kernel declares, in bytes.
    pub static_shared_bytes: u32,
    /// Maximum number of threads per block, which depends on the kernel's registers and its declared launch bounds.
    pub max_threads: u32,
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
    limits: &DeviceLimits,
    bounds: KernelBounds,
    of_backend: impl FnOnce(&LaunchPlan) -> Result<(), PlanError>,
) -> Result<(), DeviceError> {
    plan.check(limits)
        .and_then(|()| of_backend(plan))
        .and_then(|()| bounds.check(plan, limits.shared_bytes_per_block))
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

impl KernelBounds {
    /// Checks that the threads and the shared memory of a block are within the kernel's limits. Static shared memory
    /// counts towards the limit even if the launch uses no dynamic shared memory.
    #[inline]
    fn check(self, plan: &LaunchPlan, shared_limit: u32) -> Result<(), PlanError> {
        let shared = u64::from(self.static_shared_bytes) + u64::from(plan.shared_bytes);
        let checks = [
            (
                "threads per block of this kernel",
                plan.threads_per_block(),
                self.max_threads,
            ),
            ("static and dynamic shared memory", shared, shared_limit),
        ];
        for (what, value, limit) in checks {
            let limit = u64::from(limit);
            if value > limit {
                return Err(PlanError::Limit { what, value, limit });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(static_shared_bytes: u32, max_threads: u32) -> KernelBounds {
        KernelBounds {
            static_shared_bytes,
            max_threads,
            parameters: None,
        }
    }

    #[test]
    fn static_shared_memory_counts_against_the_limit() {
        let plan = LaunchPlan {
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 100,
        };
        assert_eq!(bounds(900, 1).check(&plan, 1000), Ok(()));
        assert!(bounds(901, 1).check(&plan, 1000).is_err());
        assert!(bounds(u32::MAX, 1).check(&plan, 1000).is_err());
    }

    #[test]
    fn a_block_of_more_threads_than_the_kernel_allows_is_refused_with_both_numbers() {
        let plan = LaunchPlan {
            grid: [1; 3],
            block: [32, 5, 1],
            shared_bytes: 0,
        };
        assert_eq!(bounds(0, 160).check(&plan, 0), Ok(()));
        let error = bounds(0, 159).check(&plan, 0).unwrap_err().to_string();
        assert!(error.contains("160") && error.contains("159"), "{error}");
    }

    #[test]
    fn a_range_ends_within_its_allocation_or_is_refused() {
        assert_eq!(end_of_range(4, 6, 10), Ok(10));
        assert!(end_of_range(5, 6, 10).is_err());
        assert!(end_of_range(usize::MAX, 2, 10).is_err());
    }
}
