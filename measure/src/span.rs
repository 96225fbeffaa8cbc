//! The shortest valid span of a sample, and the number of launches that a sample needs.
//!
//! A clock that ticks every 0.5 µs has an error of 10 % for a launch of 5 µs. Therefore a sample has enough launches to
//! span at least [`MIN_TICKS`] ticks (the rule of the divan benchmark crate).

use super::arm::ArmId;
use super::fault::Fault;
use super::sample::Sample;
use kiln_cache::Outcome;
use serde::{Deserialize, Serialize};

/// Smallest span of a sample, in ticks of the clock.
pub const MIN_TICKS: u64 = 100;

/// Largest number of launches of one sample. A kernel that needs more is too short to be timed.
pub const MAX_LAUNCHES: u32 = 1 << 20;

/// Planned span of a sample, in percent of the shortest valid span. The margin is large because a sample that is too
/// short makes its arm fail, and because launches can become faster: as a device warms up, or on a busy host by a third
/// from one moment to the next.
const HEADROOM_PERCENT: u64 = 200;

/// The resolution of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    /// One tick of the clock, in nanoseconds. Kiln assumes 10,000 on a CUDA GPU and 20,000 on an AMD GPU, which covers
    /// the error of the time of a batch of launches. For the CPU time of a thread it is 1.
    pub tick_ns: u64,
}

impl Resolution {
    /// The shortest valid span of a sample, in nanoseconds.
    pub fn least_ns(self) -> u64 {
        self.tick_ns.max(1).saturating_mul(MIN_TICKS)
    }

    /// Checks that a sample is not shorter than the clock can resolve.
    ///
    /// # Errors
    /// A fault of `arm`.
    pub fn check(self, arm: ArmId, sample: &Sample) -> Result<(), Fault> {
        let least_ns = self.least_ns();
        if sample.span_ns >= least_ns {
            return Ok(());
        }
        let span_ns = sample.span_ns;
        Err(Fault::of(
            arm,
            Outcome::Internal {
                message: format!(
                    "a sample spans {span_ns} ns, but the shortest span that the clock resolves is {least_ns} ns"
                ),
            },
        ))
    }
}

/// The number of launches that a sample needs to span twice [`MIN_TICKS`] ticks, estimated from the sample `probe`.
/// `None` if even [`MAX_LAUNCHES`] would be too few.
///
/// A probe that is itself too short increases the number at most tenfold. Probe again with the returned number until
/// [`Resolution::check`] accepts the probe.
pub fn launches_per_sample(probe: &Sample, resolution: Resolution) -> Option<u32> {
    let wanted_ns = u128::from(resolution.least_ns()) * u128::from(HEADROOM_PERCENT) / 100;
    let span_ns = u128::from(probe.span_ns);
    let launches = u128::from(probe.launches.max(1));
    if span_ns >= wanted_ns && launches == 1 {
        return Some(1);
    }
    let exact = if span_ns == 0 {
        u128::MAX
    } else {
        (wanted_ns * launches).div_ceil(span_ns)
    };
    let trusted = if probe.span_ns >= resolution.least_ns() {
        exact
    } else {
        exact.min(launches * 10)
    };
    if launches >= u128::from(MAX_LAUNCHES) && trusted > launches {
        return None;
    }
    u32::try_from(trusted.clamp(1, u128::from(MAX_LAUNCHES))).ok()
}

/// The launches per sample of an arm that is compared with other arms: the largest number of launches of any arm of
/// similar speed. Two arms are of similar speed if neither is more than twice as fast as the other. `launch_ns` is the
/// time of one launch of the arm. `paces` contains the launches per sample and the time of one launch of each arm.
///
/// Arms of similar speed use the same number because each sample has a fixed cost. With different numbers of launches,
/// equal arms would seem to differ by a part of this cost.
pub fn launches_beside(launch_ns: u64, paces: &[(u32, u64)]) -> u32 {
    let is_similar = |other_ns: u64| {
        launch_ns <= other_ns.saturating_mul(2) && other_ns <= launch_ns.saturating_mul(2)
    };
    let similar = paces.iter().filter(|(_, other_ns)| is_similar(*other_ns));
    similar
        .map(|(launches, _)| *launches)
        .max()
        .unwrap_or(0)
        .max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn settle(launch_ps: u64, resolution: Resolution) -> Option<Sample> {
        let mut launches = 1;
        for _ in 0..40 {
            let sample = Sample::new(launch_ps * u64::from(launches) / 1000, launches);
            if resolution.check(ArmId(0), &sample).is_ok() {
                return Some(sample);
            }
            launches = launches_per_sample(&sample, resolution)?;
        }
        None
    }

    #[test]
    fn arms_of_similar_speed_take_equally_many_launches() {
        let paces = [(2, 21_000), (3, 19_000), (1, 500_000), (400, 100)];
        let even = paces.map(|(_, launch_ns)| launches_beside(launch_ns, &paces));
        assert_eq!(even, [3, 3, 1, 400]);
    }

    #[test]
    fn an_arm_alone_keeps_its_launches() {
        assert_eq!(launches_beside(0, &[(7, 0)]), 7);
    }

    #[test]
    fn a_long_kernel_is_sampled_one_launch_at_a_time() {
        let probe = Sample::new(1_000_000, 1);
        assert_eq!(
            launches_per_sample(&probe, Resolution { tick_ns: 500 }),
            Some(1)
        );
    }

    #[test]
    fn a_five_microsecond_kernel_on_a_half_microsecond_clock_takes_twenty_launches() {
        let probe = Sample::new(50_000, 10);
        assert_eq!(
            launches_per_sample(&probe, Resolution { tick_ns: 500 }),
            Some(20)
        );
    }

    #[test]
    fn a_kernel_too_short_for_any_sample_is_refused() {
        assert_eq!(settle(0, Resolution { tick_ns: 500 }), None);
    }

    proptest! {
        #[test]
        fn no_accepted_sample_spans_fewer_than_a_hundred_ticks(
            launch_ps in 10_000u64..10_000_000_000, tick_ns in 1u64..2_000
        ) {
            let sample = settle(launch_ps, Resolution { tick_ns });
            prop_assert!(sample.is_some_and(|sample| sample.span_ns >= 100 * tick_ns));
        }

        #[test]
        fn a_sample_is_not_made_needlessly_long(
            launch_ns in 1u64..1_000_000, tick_ns in 1u64..2_000, launches in 1u32..1_000
        ) {
            let probe = Sample::new(launch_ns * u64::from(launches), launches);
            let planned = launches_per_sample(&probe, Resolution { tick_ns });
            let least = 200 * tick_ns;
            prop_assert!(planned.is_some_and(|k| u64::from(k - 1) * launch_ns < least));
        }
    }
}
