//! Timing with the device's own clock: two events around launches that run back to back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kiln_spec::LaunchPlan;

use crate::backend::batch::{Batch, Recorder, Untimed};
use crate::device::{ArgSets, DeviceError};

use super::context::Context;
use super::ffi::{Event, Graph, LoadedKernel, OwnedStream, Place};
use super::status::Failure;

/// What timing keeps from one batch to the next.
#[derive(Default)]
pub(super) struct Timer {
    recorder: Recorder,
    /// Streams of its own that no batch is on: the caller's may be the default one, which is not recorded.
    idle: Mutex<Vec<OwnedStream>>,
}

impl Timer {
    fn stream(&self, place: &Place) -> Result<OwnedStream, Failure> {
        let kept = self.idle().pop();
        kept.map_or_else(|| OwnedStream::new(place), Ok)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<OwnedStream>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Launches that are timed together.
pub(super) struct Timed<'a> {
    /// The device.
    pub context: &'a Arc<Context>,
    /// Behind whose work they run.
    pub stream: &'a OwnedStream,
    /// The kernel.
    pub kernel: &'a LoadedKernel,
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
struct Recording<'a>(&'a Context);

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        self.0.recording_is_gone();
    }
}

impl Timed<'_> {
    /// The time of all launches together, in nanoseconds.
    pub fn time(&self) -> Result<u64, DeviceError> {
        let batch = Batch::of(self.launches, self.sets);
        let queued = || self.queued().map_err(|failure| self.error(failure));
        let recorder = &self.context.timer.recorder;
        recorder.time(batch, |batch| self.recorded(batch), queued)
    }

    fn error(&self, failure: Failure) -> DeviceError {
        failure.launch_error(self.symbol)
    }

    /// Queued one by one, on the caller's stream.
    fn queued(&self) -> Result<u64, Failure> {
        self.between_events(self.stream, || self.launch(self.stream, self.launches))
    }

    fn launch(&self, stream: &OwnedStream, launches: u32) -> Result<(), Failure> {
        let mut sets = self.sets.in_turn(launches);
        sets.try_for_each(|args| self.kernel.launch(self.plan, args, stream))
    }

    /// Recorded first, and then queued as one.
    fn recorded(&self, batch: Batch) -> Result<u64, Untimed> {
        let unrecorded = |failure| Untimed::Unrecorded(self.error(failure));
        let failed = |failure| Untimed::Failed(self.error(failure));
        self.stream.synchronize().map_err(failed)?;
        let timer = &self.context.timer;
        let own = timer.stream(&self.context.place).map_err(unrecorded)?;
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
        timer.idle().push(own);
        Ok(ns)
    }

    /// A recording, brought to the device so that its first launch is as the others.
    fn record(&self, own: &OwnedStream, launches: u32) -> Result<Graph, Failure> {
        own.begin_capture()?;
        let launched = self.launch(own, launches);
        let graph = own.end_capture();
        launched?;
        let graph = graph?;
        graph.upload(own)?;
        own.synchronize()?;
        Ok(graph)
    }

    /// The time between an event before and one behind what `queue` puts on a stream.
    fn between_events(
        &self,
        stream: &OwnedStream,
        queue: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        let place = &self.context.place;
        let (start, end) = (Event::new(place)?, Event::new(place)?);
        start.record(stream)?;
        queue()?;
        end.record(stream)?;
        end.synchronize()?;
        let milliseconds = end.milliseconds_since(&start)?;
        Ok((f64::from(milliseconds) * 1e6).round() as u64)
    }
}
