//! Timing with the device's own clock: two events around launches that run back to back.

use std::sync::{Arc, Mutex, PoisonError};

use kiln_spec::LaunchPlan;

use crate::backend::batch::{Batch, Recorder, Untimed};
use crate::device::{ArgSets, DeviceError};

use super::context::CudaContext;
use super::error::device_error;
use super::ffi::{Context, Event, Failed, RawFunction, RawGraph, RawStream};

/// What timing keeps from one batch to the next.
#[derive(Default)]
pub(super) struct Timer {
    recorder: Recorder,
    /// Streams of its own that no batch is on: the caller's may be the default one, which is not recorded.
    idle: Mutex<Vec<RawStream>>,
}

impl Timer {
    fn stream(&self, context: &Arc<Context>) -> Result<RawStream, Failed> {
        let kept = self.idle().pop();
        kept.map_or_else(|| RawStream::new(context), Ok)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<RawStream>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Launches that are timed together.
pub(super) struct Timed<'a> {
    /// The device.
    pub context: &'a Arc<CudaContext>,
    /// Behind whose work they run.
    pub stream: &'a RawStream,
    /// The kernel.
    pub kernel: &'a RawFunction,
    /// Its name.
    pub symbol: &'a str,
    /// Its geometry.
    pub plan: &'a LaunchPlan,
    /// Its arguments, in turn.
    pub sets: ArgSets<'a>,
    /// How many there are.
    pub launches: u32,
}

/// Notes that a recording lives, so that nothing which it could name is freed.
struct Recording<'a>(&'a CudaContext);

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        self.0.recording_is_gone();
    }
}

impl Timed<'_> {
    /// The time of all launches together, in nanoseconds.
    ///
    /// Events tell half a microsecond apart; how many launches make a span that is long enough for that is the caller's
    /// business, from [`crate::device::DeviceInfo::timer_tick_ns`].
    pub fn time(&self) -> Result<u64, DeviceError> {
        let batch = Batch::of(self.launches, self.sets);
        let queued = || self.queued().map_err(|failed| self.error(&failed));
        let recorder = &self.context.timer.recorder;
        recorder.time(batch, |batch| self.recorded(batch), queued)
    }

    fn error(&self, failed: &Failed) -> DeviceError {
        device_error(failed, Some(self.symbol))
    }

    /// Queued one by one, on the caller's stream: a kernel shorter than what the host takes to queue one is timed at the
    /// rate at which it can be queued.
    fn queued(&self) -> Result<u64, Failed> {
        self.between_events(self.stream, || {
            let sets = self.sets.in_turn(self.launches);
            self.kernel.launch_each(self.stream, self.plan, sets)
        })
    }

    /// Recorded first, and then queued as one.
    fn recorded(&self, batch: Batch) -> Result<u64, Untimed> {
        let unrecorded = |failed: Failed| Untimed::Unrecorded(self.error(&failed));
        let failed = |failed: Failed| Untimed::Failed(self.error(&failed));
        let context = &self.context.raw;
        self.stream.synchronize(context).map_err(failed)?;
        let own = self.context.timer.stream(context).map_err(unrecorded)?;
        self.context.recording_begins();
        let _recording = Recording(self.context);
        let record = |launches| self.record(&own, launches).map_err(unrecorded);
        let again = record(batch.recorded)?;
        let rest = (batch.rest > 0).then(|| record(batch.rest)).transpose()?;
        let run = || {
            (0..batch.times).try_for_each(|_| again.launch(&own))?;
            rest.iter().try_for_each(|rest| rest.launch(&own))
        };
        let ns = self.between_events(&own, run).map_err(failed)?;
        self.context.timer.idle().push(own);
        Ok(ns)
    }

    /// A recording, brought to the device so that its first launch is as the others.
    fn record(&self, own: &RawStream, launches: u32) -> Result<RawGraph, Failed> {
        let context = &self.context.raw;
        own.begin_capture(context)?;
        let sets = self.sets.in_turn(launches);
        let launched = self.kernel.launch_each(own, self.plan, sets);
        let graph = own.end_capture(context);
        launched?;
        let graph = graph?;
        graph.upload(own)?;
        own.synchronize(context)?;
        Ok(graph)
    }

    /// The time between an event before and one behind what `queue` puts on a stream.
    fn between_events(
        &self,
        stream: &RawStream,
        queue: impl FnOnce() -> Result<(), Failed>,
    ) -> Result<u64, Failed> {
        let context = &self.context.raw;
        let (start, end) = (Event::new(context)?, Event::new(context)?);
        start.record(stream)?;
        queue()?;
        end.record(stream)?;
        end.synchronize()?;
        let ms = end.ms_since(&start)?;
        Ok((f64::from(ms) * 1e6).round().max(0.0) as u64)
    }
}
