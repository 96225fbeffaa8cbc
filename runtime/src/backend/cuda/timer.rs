//! Timing with the device's own clock: two events around launches that are queued back to back.

use std::sync::Arc;

use kiln_spec::LaunchPlan;

use crate::device::{ArgSets, DeviceError};

use super::context::CudaContext;
use super::error::{device_error, of_call};
use super::ffi::{Event, RawStream};
use super::module::Entry;

/// The time of `launches` launches together, in nanoseconds.
///
/// Events tell half a microsecond apart; how many launches make a span that is long enough for that is the caller's
/// business, from [`crate::device::DeviceInfo::timer_tick_ns`]. A kernel shorter than what the host takes to queue one
/// is timed at the rate at which it can be queued.
pub(super) fn time(
    context: &Arc<CudaContext>,
    stream: &RawStream,
    entry: &Entry,
    plan: &LaunchPlan,
    sets: ArgSets<'_>,
    launches: u32,
) -> Result<u64, DeviceError> {
    let symbol = Some(&*entry.symbol);
    let start = Event::new(&context.raw).map_err(of_call)?;
    let end = Event::new(&context.raw).map_err(of_call)?;
    let function = entry.function()?;
    let span = start
        .record(stream)
        .and_then(|()| function.launch_each(stream, plan, sets.in_turn(launches)))
        .and_then(|()| end.record(stream))
        .and_then(|()| end.synchronize())
        .and_then(|()| end.ms_since(&start));
    let ms = span.map_err(|failed| device_error(&failed, symbol))?;
    Ok((f64::from(ms) * 1e6).round().max(0.0) as u64)
}
