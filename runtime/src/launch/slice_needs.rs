//! What a launch requires of its slices: lengths, alignments, the device and the stream.

use kiln_spec::{Config, Problem, SliceArg};

use crate::data::buffer::RawSlice;
use crate::device::stream::Stream;
use crate::kernel::Kernel;
use crate::launch::error::LaunchCause;
use crate::launch::memo::SliceNeeds;
use crate::selection::Choice;

/// The requirements on every slice of a kernel for a choice and a problem.
pub(crate) fn needs_of(
    kernel: &'static Kernel,
    choice: Choice,
    problem: &Problem,
) -> Result<Vec<SliceNeeds>, LaunchCause> {
    let config = kernel.config(choice);
    let slices = kernel.spec().slices();
    slices
        .map(|slice| slice_needs(kernel, slice, &config, problem))
        .collect()
}

fn slice_needs(
    kernel: &'static Kernel,
    slice: &SliceArg,
    config: &Config,
    problem: &Problem,
) -> Result<SliceNeeds, LaunchCause> {
    let spec = kernel.spec();
    let len = spec.slice_len(&slice.len, config, problem)?;
    let bytes = spec.align_bytes(slice, config, problem);
    let bytes = bytes.map_err(|error| LaunchCause::Eval {
        argument: slice.name.clone(),
        error,
    })?;
    match u64::try_from(bytes) {
        Ok(align) if align.is_power_of_two() => Ok(SliceNeeds {
            len,
            align_mask: align - 1,
        }),
        _ => Err(LaunchCause::BadAlignment {
            argument: slice.name.clone(),
            align: slice
                .align
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            bytes,
        }),
    }
}

/// Checks the slices of a launch on a stream.
pub(crate) fn check_slices(
    kernel: &'static Kernel,
    stream: &Stream,
    needs: &[SliceNeeds],
    slices: &[RawSlice],
) -> Result<(), LaunchCause> {
    let device_index = stream.device_index();
    for ((declared, need), slice) in kernel.spec().slices().zip(needs).zip(slices) {
        let argument = || declared.name.clone();
        if slice.device_index != device_index {
            return Err(LaunchCause::OtherDevice {
                argument: argument(),
                expected: device_index,
                found: slice.device_index,
            });
        }
        if !slice.lent.goes_with(stream.id()) {
            return Err(LaunchCause::OtherStream {
                argument: argument(),
            });
        }
        if slice.len != need.len {
            return Err(LaunchCause::Length {
                argument: argument(),
                len: declared.len.to_string(),
                expected: need.len,
                found: slice.len,
            });
        }
        if slice.address & need.align_mask != 0 {
            return Err(LaunchCause::Alignment {
                argument: argument(),
                address: slice.address,
                align_bytes: need.align_mask + 1,
            });
        }
    }
    Ok(())
}
