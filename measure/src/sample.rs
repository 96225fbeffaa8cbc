//! One timed sample.

use serde::{Deserialize, Serialize};

/// One timed sample: `launches` launches of one arm, back to back, between two reads of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// From the first launch to the end of the last, in nanoseconds.
    pub span_ns: u64,
    /// The number of launches in the span; at least 1.
    pub launches: u32,
    /// The device clock while the sample ran, in kHz, if the device reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_khz: Option<u32>,
    /// The device reported a thermal or power brake during the sample.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub throttled: bool,
}

impl Sample {
    /// A sample of `launches` launches that spanned `span_ns`, with nothing known about clocks.
    pub fn new(span_ns: u64, launches: u32) -> Self {
        Self {
            span_ns,
            launches: launches.max(1),
            clock_khz: None,
            throttled: false,
        }
    }

    /// Nanoseconds of one launch, rounded to the nearest.
    pub fn launch_ns(&self) -> u64 {
        let launches = u64::from(self.launches.max(1));
        (self.span_ns + launches / 2) / launches
    }

    /// Natural logarithm of the nanoseconds of one launch, unrounded. A span of zero counts as
    /// 1 ns, so that the result is finite.
    pub fn log_ns(&self) -> f64 {
        (self.span_ns.max(1) as f64 / f64::from(self.launches.max(1))).ln()
    }
}
