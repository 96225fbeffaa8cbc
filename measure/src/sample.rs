//! One timed sample.

use serde::{Deserialize, Serialize};

/// One timed sample: `launches` launches of one arm, one directly after the other, between two readings of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Time from the start of the first launch to the end of the last one, in nanoseconds.
    pub span_ns: u64,
    /// The number of launches in the span; at least 1.
    pub launches: u32,
    /// The device's clock frequency during the sample, in kHz; `None` if the device does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_khz: Option<u32>,
    /// Whether the device reported a thermal or power limit during the sample.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub throttled: bool,
}

impl Sample {
    /// A sample of `launches` launches that took `span_ns`, without information about the device's clock.
    pub fn new(span_ns: u64, launches: u32) -> Self {
        Self {
            span_ns,
            launches: launches.max(1),
            clock_khz: None,
            throttled: false,
        }
    }

    /// Mean time of one launch, in nanoseconds, rounded to the nearest integer.
    pub fn launch_ns(&self) -> u64 {
        let launches = u64::from(self.launches.max(1));
        (self.span_ns + launches / 2) / launches
    }

    /// Natural logarithm of the mean time of one launch in nanoseconds, not rounded. A span of 0 is treated as 1 ns, so
    /// the result is finite.
    pub fn log_ns(&self) -> f64 {
        (self.span_ns.max(1) as f64 / f64::from(self.launches.max(1))).ln()
    }
}
