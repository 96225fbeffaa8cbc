//! Timing with a GPU's own clock, by two events around launches that run directly one after another.

use kiln_spec::LaunchPlan;

use crate::device::{ArgSets, DeviceError};

use super::batch::{Batch, Untimed};
use super::{Event as _, Filler, Gpu, GpuGraph as _, Lane};

/// Launches to be timed together.
pub(crate) struct Timed<'a, G: Gpu> {
    /// The GPU on which the launches run.
    pub gpu: &'a G,
    /// The caller's stream. The launches run after its earlier work.
    pub stream: &'a G::Stream,
    /// The kernel to launch.
    pub kernel: &'a G::Kernel,
    /// The symbol of the kernel.
    pub symbol: &'a str,
    /// The grid, block and shared memory of each launch.
    pub plan: &'a LaunchPlan,
    /// The sets of arguments between which the launches alternate.
    pub sets: ArgSets<'a>,
    /// Number of launches.
    pub launches: u32,
}

/// Registers a live recording while it exists, so that no memory or module that the recording could use is freed.
struct Alive<'a, G: Gpu>(&'a G);

impl<G: Gpu> Drop for Alive<'_, G> {
    fn drop(&mut self) {
        self.0.recording_is_gone();
    }
}

impl<G: Gpu> Timed<'_, G> {
    /// The total time of all launches, in nanoseconds.
    ///
    /// The caller must choose enough launches for the required precision, based on
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

    /// Queues the launches one by one on the caller's stream. If a kernel takes less time than the host needs to
    /// queue a launch, the measured rate is the rate of queueing. The time includes the start of the first launch.
    fn queued(&self) -> Result<u64, G::Failure> {
        let launch = || self.launch(self.stream, self.launches);
        self.between_events(self.stream, || Ok(()), launch)
    }

    fn launch(&self, stream: &G::Stream, launches: u32) -> Result<(), G::Failure> {
        let sets = self.sets.in_turn(launches);
        G::launch_each(self.kernel, stream, self.plan, sets)
    }

    /// Records the launches, then queues the recording on a stream of the timer.
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
        let fill = || own.filler.launch(&own.stream);
        let timed = self.between_events(&own.stream, fill, run);
        let ns = timed.map_err(failed)?;
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

    /// Records `launches` launches and uploads the recording to the device, so that its first launch takes as long as
    /// later ones.
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

    /// The time in nanoseconds between an event before and an event after the work that `queue` queues on a stream.
    /// `fill` queues work that runs before. The events exist before that: creating them takes the host time, during
    /// which the device must not run out of work.
    fn between_events(
        &self,
        stream: &G::Stream,
        fill: impl FnOnce() -> Result<(), G::Failure>,
        queue: impl FnOnce() -> Result<(), G::Failure>,
    ) -> Result<u64, G::Failure> {
        let (start, end) = (self.gpu.new_event()?, self.gpu.new_event()?);
        fill()?;
        start.record(stream)?;
        queue()?;
        end.record(stream)?;
        end.synchronize()?;
        let ms = end.ms_since(&start)?;
        Ok((f64::from(ms) * 1e6).round() as u64)
    }
}
