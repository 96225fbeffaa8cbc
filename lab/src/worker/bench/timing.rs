//! Times warm arms (loaded candidates) in samples that are long enough for the clock's resolution.

use std::io::Write;
use std::time::{Duration, Instant};

use kiln::device::{ClockReading, DeviceError};
use kiln::rig::{HostPace, RigError};
use kiln_cache::Outcome;
use kiln_spec::Backend;

use super::arm::LoadedArm;
use super::failure::{ArmFailure, outcome_of};
use super::opened::{Opened, announce};
use super::settle::settle;
use kiln_measure::Sample;
use kiln_measure::span::{Resolution, launches_beside, launches_per_sample};

/// Number of launches that warm an arm up. After that many, module loading, page faults and cold caches no longer
/// affect its time.
const WARM_LAUNCHES: u32 = 3;

/// Number of probes from which the number of launches per sample is derived.
const PROBES: usize = 3;

/// A probe that lasts this many times the minimum duration of a sample is not repeated, because no disturbance is that
/// large.
const AMPLE: u64 = 10;

/// After this time, an arm is warm even if it had fewer launches.
const WARM_TIME: Duration = Duration::from_millis(50);

/// An arm whose launches last at least this long in an earlier process is not warmed up again: page faults take only
/// milliseconds, which is less than half a percent of such a launch.
const COLD_ENOUGH_NS: u64 = 500_000_000;

impl Opened {
    /// Warms up every arm and determines its number of launches per sample. Returns, per arm, that number and the time
    /// of one launch in nanoseconds.
    pub(in crate::worker) fn warm(
        &mut self,
        replies: &mut impl Write,
    ) -> Result<Vec<(u32, u64)>, ArmFailure> {
        let resolution = Resolution {
            tick_ns: self.timer_tick_ns,
        };
        self.settle_clocks(replies)?;
        for place in 0..self.arms.len() {
            announce(replies, place)?;
            let (launches, launch_ns) = self
                .warm_arm(place, resolution)
                .map_err(|failure| (Some(place), failure))?;
            let job = &mut self.arms[place].job;
            (job.launches, job.launch_ns) = (launches, launch_ns);
        }
        self.even_out();
        Ok(self
            .arms
            .iter()
            .map(|arm| (arm.job.launches, arm.job.launch_ns))
            .collect())
    }

    fn settle_clocks(&self, replies: &mut impl Write) -> Result<(), ArmFailure> {
        let backend = self.stream.device().info().key.backend;
        let (Backend::Cuda | Backend::Hip, Some(arm)) = (backend, self.arms.first()) else {
            return Ok(());
        };
        announce(replies, 0)?;
        settle(|launches| self.time(arm, launches)).map_err(|failure| (Some(0), failure))
    }

    /// Sets the same number of launches per sample for arms of similar speed. The first launch of a sample is colder
    /// than the others, and each sample has a fixed cost. If the numbers of launches differed, the measured times of
    /// two equal kernels would differ by more than the difference that a proof requires.
    fn even_out(&mut self) {
        let paces: Vec<(u32, u64)> = self
            .arms
            .iter()
            .map(|arm| (arm.job.launches, arm.job.launch_ns))
            .collect();
        for arm in &mut self.arms {
            arm.job.launches = launches_beside(arm.job.launch_ns, &paces);
        }
    }

    fn warm_arm(&self, place: usize, resolution: Resolution) -> Result<(u32, u64), Outcome> {
        let arm = self.arm(place)?;
        if arm.job.launch_ns >= COLD_ENOUGH_NS {
            return Ok((arm.job.launches, arm.job.launch_ns));
        }
        let start = Instant::now();
        let mut probe = self.time(arm, 1)?;
        for _ in 1..WARM_LAUNCHES {
            if start.elapsed() >= WARM_TIME {
                break;
            }
            probe = self.time(arm, 1)?;
        }
        if arm.job.launches > 0 {
            // An earlier process determined the number of launches per sample, and all processes use the same number.
            return Ok((arm.job.launches, probe.launch_ns()));
        }
        self.pace(arm, probe, resolution)
    }

    /// The number of launches per sample of an arm, and the time of one launch in nanoseconds, based on a first probe.
    fn pace(
        &self,
        arm: &LoadedArm,
        mut probe: Sample,
        resolution: Resolution,
    ) -> Result<(u32, u64), Outcome> {
        loop {
            let launches = launches_per_sample(&probe, resolution).ok_or_else(too_short)?;
            if launches > probe.launches || probe.span_ns < resolution.least_ns() {
                probe = self.time(arm, launches.max(probe.launches))?;
                continue;
            }
            if probe.span_ns >= AMPLE * resolution.least_ns() {
                return Ok((probe.launches, probe.launch_ns()));
            }
            // The probe may have been slowed down by another process. The number of launches that follows from it would
            // then be too small, so every undisturbed sample would be too short.
            let fastest = self.fastest(arm, probe)?;
            let launches = launches_per_sample(&fastest, resolution).ok_or_else(too_short)?;
            if launches <= fastest.launches {
                return Ok((fastest.launches, fastest.launch_ns()));
            }
            probe = self.time(arm, launches)?;
        }
    }

    /// The fastest of `probe` and a few more probes with the same number of launches.
    fn fastest(&self, arm: &LoadedArm, probe: Sample) -> Result<Sample, Outcome> {
        let mut fastest = probe;
        for _ in 1..PROBES {
            let again = self.time(arm, probe.launches)?;
            if again.span_ns < fastest.span_ns {
                fastest = again;
            }
        }
        Ok(fastest)
    }

    /// Takes one sample. In each launch, arguments that the kernel reads and writes start with their generated values,
    /// because a kernel may have less work to do with values that an earlier launch wrote.
    fn time(&self, arm: &LoadedArm, launches: u32) -> Result<Sample, Outcome> {
        let rig = self.rig(arm)?;
        let span_ns = rig
            .time_restored(&arm.release, &arm.job.plan, launches)
            .map_err(outcome_of)?;
        Ok(Sample::new(span_ns, launches))
    }

    /// Takes one sample for each entry of a schedule.
    pub(super) fn sample(
        &mut self,
        schedule: &[usize],
        replies: &mut impl Write,
    ) -> Result<Vec<Sample>, ArmFailure> {
        let device = self.stream.device().clone();
        let before = device.clock();
        let mut samples = Vec::with_capacity(schedule.len());
        for &place in schedule {
            announce(replies, place)?;
            let sample = self.resolved_sample(place);
            samples.push(sample.map_err(|failure| (Some(place), failure))?);
        }
        note_clocks(&mut samples, [before, device.clock()]);
        Ok(samples)
    }

    /// Takes one sample that is long enough for the clock's resolution. If the machine was slower when the arm was
    /// paced, a sample can be too short. Such a sample is discarded, and from then on this process takes longer samples
    /// of the arm.
    fn resolved_sample(&mut self, place: usize) -> Result<Sample, Outcome> {
        let resolution = Resolution {
            tick_ns: self.timer_tick_ns,
        };
        loop {
            let arm = self.arm(place)?;
            let launches = arm.job.launches.max(1);
            let sample = self.time(arm, launches)?;
            if sample.span_ns >= resolution.least_ns() {
                return Ok(sample);
            }
            let longer = launches_per_sample(&sample, resolution).ok_or_else(too_short)?;
            self.arms[place].job.launches = longer.max(launches + 1);
            self.even_out();
        }
    }

    /// Times sequences of launches with the host's clock, once queued and once recorded as a graph. Returns `None` if
    /// the device cannot record launches.
    pub(super) fn host_pace(
        &self,
        arm: usize,
        launches: u32,
        pairs: usize,
    ) -> Result<Option<Vec<HostPace>>, Outcome> {
        let arm = self.arm(arm)?;
        let rig = self.rig(arm)?;
        match rig.host_pace(&arm.release, &arm.job.plan, launches, pairs) {
            Ok(measured) => Ok(Some(measured)),
            Err(RigError::Device(DeviceError::Unsupported { .. })) => Ok(None),
            Err(error) => Err(outcome_of(error)),
        }
    }
}

/// Sets the clock and the throttling flag of some samples from the readings before and after them. All samples get the
/// same clock, because the host reads the clock only before the first and after the last sample. The second reading is
/// used, because the device has just been busy then.
fn note_clocks(samples: &mut [Sample], readings: [Option<ClockReading>; 2]) {
    let is_braked = readings.iter().flatten().any(|reading| reading.is_braked);
    let clock_khz = readings[1].and_then(|reading| reading.khz);
    for sample in samples {
        (sample.clock_khz, sample.throttled) = (clock_khz, is_braked);
    }
}

fn too_short() -> Outcome {
    Outcome::LaunchRefused {
        reason: "too short to be timed: the clock does not resolve it".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_carry_the_clock_behind_them_and_a_brake_on_either_side() {
        let reading = |khz, is_braked| {
            Some(ClockReading {
                khz: Some(khz),
                is_braked,
            })
        };
        let mut samples = vec![Sample::new(1_000_000, 3); 2];
        note_clocks(
            &mut samples,
            [reading(345_000, true), reading(1_980_000, false)],
        );
        for sample in &samples {
            assert_eq!(
                (sample.clock_khz, sample.throttled),
                (Some(1_980_000), true)
            );
        }
        note_clocks(&mut samples, [None, None]);
        assert_eq!(samples, [Sample::new(1_000_000, 3); 2]);
    }
}
