//! Interprets a time: throughput, the share of the device's peak, and whether the launch overhead dominates.

use kiln::device::DeviceInfo;
use kiln_spec::{Backend, KernelSpec, Problem};
use serde::Serialize;

use super::least::LARGE_SHARE;
use kiln_lab::peaks;
use kiln_measure::roofline::AboveRoofline;

/// Copy bandwidth and launch overhead of a device, measured in the same session; `None` if they could not be
/// measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Yardsticks {
    /// Time of an almost empty launch, in nanoseconds.
    pub launch_ns: Option<u64>,
    /// Bandwidth of a memory copy beyond the last-level cache, in bytes per second, read and written together.
    pub copy_bytes_per_s: Option<u64>,
}

/// The throughput that follows from the time of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Throughput {
    /// Bytes that must move, in 10^9 per second; `None` if none are declared.
    pub gb_per_s: Option<f64>,
    /// Floating-point operations, in 10^9 per second; `None` if none are declared.
    pub gflop_per_s: Option<f64>,
    /// The share of the device's roofline, in percent; `None` if nothing bounds it.
    pub peak_percent: Option<f64>,
    /// Whether the peak is an upper bound that no processor reaches, so that the true share is larger: on the cpu,
    /// and for operations.
    pub peak_is_bound: bool,
    /// Bytes per second as a share of the copy bandwidth, in percent: above 100 if caches hold the data; `None` if
    /// either is unknown.
    pub copy_percent: Option<f64>,
    /// Time of an almost empty launch, in nanoseconds; `None` if it could not be measured.
    pub launch_ns: Option<u64>,
    /// Its share of the time, in percent.
    pub launch_percent: Option<f64>,
    /// Whether the share is so large that the time says little about the kernel.
    pub launch_bound: bool,
}

impl Throughput {
    /// The throughput that follows from a launch time of `time_ns`.
    ///
    /// # Errors
    /// If the time is faster than the device can be.
    pub fn new(
        info: &DeviceInfo,
        spec: &KernelSpec,
        problem: &Problem,
        time_ns: u64,
        yardsticks: Yardsticks,
    ) -> Result<Throughput, AboveRoofline> {
        let launch_ns = yardsticks.launch_ns;
        let (roofline, work) = (peaks::roofline(info), peaks::work(spec, problem));
        roofline.check(peaks::beyond_the_cache(info, work), time_ns)?;
        // Units per nanosecond are 10^9 units per second.
        let rate = |amount: u64| (amount > 0).then(|| amount as f64 / time_ns.max(1) as f64);
        let share = launch_ns.map(|launch_ns| launch_ns as f64 / time_ns.max(1) as f64);
        let copied = yardsticks.copy_bytes_per_s.filter(|bytes| *bytes > 0);
        let of_copy = |copied: u64| rate(work.bytes).map(|rate| rate * 1e9 / copied as f64);
        Ok(Throughput {
            copy_percent: copied.and_then(of_copy).map(|share| share * 100.0),
            gb_per_s: rate(work.bytes),
            gflop_per_s: rate(work.flops),
            peak_percent: roofline.percent(work, time_ns),
            peak_is_bound: info.key.backend == Backend::Cpu || roofline.is_compute_bound(work),
            launch_ns,
            launch_percent: share.map(|share| share * 100.0),
            launch_bound: share.is_some_and(|share| share >= LARGE_SHARE),
        })
    }
}
