//! Timing with a GPU's own clock: two events around launches that run back to back.

use kiln_spec::LaunchPlan;

use crate::device::{ArgSets, DeviceError};

use super::batch::{Batch, Untimed};
use super::{Event as _, Filler, Gpu, GpuGraph as _, Lane};

/// Launches that are timed together.
pub(crate) struct Timed<'a, G: Gpu> {
    /// The device.
    pub gpu: &'a G,
    /// The stream after whose work they run.
    pub stream: &'a G::Stream,
    /// The kernel.
    pub kernel: &'a G::Kernel,
    /// Its name.
    pub symbol: &'a str,
    /// Its geometry.
    pub plan: &'a LaunchPlan,
    /// Its arguments, in turn.
    pub sets: ArgSets<'a>,
    /// Number of launches.
    pub launches: u32,
}

/// Registers a live recording, so that no memory or module that it could use is freed.
struct Alive<'a, G: Gpu>(&'a G);

impl<G: Gpu> Drop for Alive<'_, G> {
    fn drop(&mut self) {
        self.0.recording_is_gone();
    }
}

impl<G: Gpu> Timed<'_, G> {
    /// The total time of all launches, in nanoseconds.
    ///
    /// The caller chooses enough launches for a sufficiently long span, based on
    /// [`crate::device::DeviceInfo::timer_tick_ns`].
    pub fn time(&self) -> Result<u64, DeviceError> {
        let batch = Batch::of(self.launches, self.sets);
        let queued = || self.queued().map_err(|failure| self.error(failure));
        let recorder = &self.gpu.kept().timer.recorder;
        recorder.time(batch, |batch| self.recorded(batch), queued)
    }

    fn error(&self, failure: G::Failure) -> DeviceError {
        G::error(failure, Some(self.symbol))
    }

    /// Queues the launches one by one on the caller's stream. A kernel that is shorter than the time to queue a
    /// launch is timed at the rate of queueing, and the time includes the start of the first launch.
    fn queued(&self) -> Result<u64, G::Failure> {
        self.between_events(self.stream, || self.launch(self.stream, self.launches))
    }

    fn launch(&self, stream: &G::Stream, launches: u32) -> Result<(), G::Failure> {
        let sets = self.sets.in_turn(launches);
        G::launch_each(self.kernel, stream, self.plan, sets)
    }

    /// Records the launches first, then queues the recording.
    fn recorded(&self, batch: Batch) -> Result<u64, Untimed> {
        let unrecorded = |failure| Untimed::Unrecorded(self.error(failure));
        let failed = |failure| Untimed::Failed(self.error(failure));
        self.gpu.wait_for(self.stream).map_err(failed)?;
        let own = self.lane().map_err(unrecorded)?;
        self.gpu.recording_begins();
        let _alive = Alive(self.gpu);
        let record = |launches| self.record(&own.stream, launches).map_err(unrecorded);
        let again = record(batch.recorded)?;
        let rest = (batch.rest > 0).then(|| record(batch.rest)).transpose()?;
        let run = || {
            (0..batch.times).try_for_each(|_| again.launch(&own.stream))?;
            rest.iter().try_for_each(|rest| rest.launch(&own.stream))
        };
        let timed = || {
            own.filler.launch(&own.stream)?;
            self.between_events(&own.stream, run)
        };
        let ns = timed().map_err(failed)?;
        self.gpu.kept().timer.idle().push(own);
        Ok(ns)
    }

    fn lane(&self) -> Result<Lane<G>, G::Failure> {
        let idle = self.gpu.kept().timer.idle().pop();
        idle.map_or_else(
            || {
                let stream = self.gpu.new_stream()?;
                let filler = Filler::new(self.gpu, &stream)?;
                Ok(Lane { stream, filler })
            },
            Ok,
        )
    }

    /// A recording, uploaded to the device so that its first launch is like the others.
    fn record(&self, own: &G::Stream, launches: u32) -> Result<G::Graph, G::Failure> {
        self.gpu.begin_capture(own)?;
        let launched = self.launch(own, launches);
        let graph = self.gpu.end_capture(own);
        launched?;
        let graph = graph?;
        graph.upload(own)?;
        self.gpu.wait_for(own)?;
        Ok(graph)
    }

    /// The time between an event before and one after the work that `queue` puts on a stream.
    fn between_events(
        &self,
        stream: &G::Stream,
        queue: impl FnOnce() -> Result<(), G::Failure>,
    ) -> Result<u64, G::Failure> {
        let (start, end) = (self.gpu.new_event()?, self.gpu.new_event()?);
        start.record(stream)?;
        queue()?;
        end.record(stream)?;
        end.synchronize()?;
        let ms = end.ms_since(&start)?;
        Ok((f64::from(ms) * 1e6).round() as u64)
    }
}
