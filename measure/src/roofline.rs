//! Checks times against the peaks of the device. A time that is shorter than the hardware allows is a measurement
//! error.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The largest share of the roofline that a time may reach, in percent. It is above 100 because peaks are specified for
/// a clock rate that a boosted clock can exceed slightly.
pub const MAX_PERCENT: u64 = 105;

/// The peaks of a device. An unknown peak is `None` and sets no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roofline {
    /// Floating-point operations per second; `None` if unknown.
    pub flops_per_s: Option<u64>,
    /// Bytes per second of the memory that the data must come from. Set it only if the buffers cannot stay in a cache.
    pub bytes_per_s: Option<u64>,
}

/// The smallest amount of work that one launch must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeastWork {
    /// Floating-point operations.
    pub flops: u64,
    /// Bytes that are read and written.
    pub bytes: u64,
}

/// The error for a launch that is faster than the device's peaks allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error(
    "a launch was measured at {measured_ns} ns, but the device needs at least {least_ns} ns\n\
     help: the kernel did not do its work, or the peaks of the device are wrong; run `tune devices`"
)]
pub struct AboveRoofline {
    /// The measured time of one launch, in nanoseconds.
    pub measured_ns: u64,
    /// The time at 100 % of the roofline, in nanoseconds.
    pub least_ns: u64,
}

impl Roofline {
    /// The shortest time in which the device can do `work`, in nanoseconds, rounded up.
    pub fn least_ns(&self, work: LeastWork) -> u64 {
        let compute = time_ns(work.flops, self.flops_per_s);
        let memory = time_ns(work.bytes, self.bytes_per_s);
        compute.max(memory)
    }

    /// Whether the operations of `work` take longer than the transfer of its bytes.
    pub fn is_compute_bound(&self, work: LeastWork) -> bool {
        time_ns(work.flops, self.flops_per_s) > time_ns(work.bytes, self.bytes_per_s)
    }

    /// Checks that a time reaches at most [`MAX_PERCENT`] of the roofline.
    ///
    /// # Errors
    /// [`AboveRoofline`] if the time is shorter.
    pub fn check(&self, work: LeastWork, measured_ns: u64) -> Result<(), AboveRoofline> {
        let least_ns = self.least_ns(work);
        if u128::from(measured_ns) * u128::from(MAX_PERCENT) >= u128::from(least_ns) * 100 {
            return Ok(());
        }
        Err(AboveRoofline {
            measured_ns,
            least_ns,
        })
    }

    /// The share of the roofline that a time reaches, in percent; `None` if no peak limits it, or if the time is 0.
    pub fn percent(&self, work: LeastWork, measured_ns: u64) -> Option<f64> {
        let least_ns = self.least_ns(work);
        (least_ns > 0 && measured_ns > 0).then(|| least_ns as f64 / measured_ns as f64 * 100.0)
    }
}

/// Nanoseconds for `amount` at `rate` per second, rounded up; 0 for an unknown rate.
fn time_ns(amount: u64, rate: Option<u64>) -> u64 {
    let Some(rate) = rate.filter(|&rate| rate > 0) else {
        return 0;
    };
    let ns = (u128::from(amount) * 1_000_000_000).div_ceil(u128::from(rate));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const L40S: Roofline = Roofline {
        flops_per_s: None,
        bytes_per_s: Some(864_000_000_000),
    };

    fn copied(bytes: u64) -> LeastWork {
        LeastWork { flops: 0, bytes }
    }

    #[test]
    fn three_terabytes_a_second_on_an_l40s_are_refused() {
        // 864 MB in 244.8 µs is 3,530 GB/s. A benchmark once measured this rate because its cache flush missed
        // persisting lines.
        let error = L40S.check(copied(864_000_000), 244_800).unwrap_err();
        assert_eq!(
            error,
            AboveRoofline {
                measured_ns: 244_800,
                least_ns: 1_000_000
            }
        );
    }

    #[test]
    fn up_to_five_percent_above_the_roofline_passes() {
        assert_eq!(L40S.check(copied(864_000_000), 952_381), Ok(()));
        assert!(L40S.check(copied(864_000_000), 952_380).is_err());
    }

    #[test]
    fn unknown_peaks_bound_nothing() {
        let none = Roofline::default();
        assert_eq!(none.check(copied(u64::MAX), 0), Ok(()));
        assert_eq!(none.percent(copied(1), 1), None);
    }

    #[test]
    fn the_slower_of_compute_and_memory_is_the_bound() {
        let roofline = Roofline {
            flops_per_s: Some(1_000_000_000),
            bytes_per_s: Some(1_000_000_000),
        };
        assert_eq!(roofline.least_ns(LeastWork { flops: 7, bytes: 3 }), 7);
        assert_eq!(roofline.least_ns(LeastWork { flops: 3, bytes: 7 }), 7);
        assert_eq!(
            roofline.percent(LeastWork { flops: 3, bytes: 7 }, 14),
            Some(50.0)
        );
    }
}
