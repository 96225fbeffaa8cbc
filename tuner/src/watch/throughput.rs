//! Interprets the time of a kernel: its throughput, its share of the device's peak, and whether the launch overhead
//! dominates.

use kiln::device::DeviceInfo;
use kiln_spec::{Backend, KernelSpec, Problem};
use serde::Serialize;

use super::least::LARGE_SHARE;
use kiln_lab::peaks;
use kiln_measure::roofline::AboveRoofline;

/// The copy bandwidth and the launch overhead of a device, measured in the same session as the kernels. A value is
/// `None` if it could not be measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Yardsticks {
    /// Time of an almost empty launch, in nanoseconds.
    pub launch_ns: Option<u64>,
    /// Bandwidth of a memory copy beyond the last-level cache, in bytes per second. The bytes that are read and the
    /// bytes that are written are both counted.
    pub copy_bytes_per_s: Option<u64>,
}

/// The throughput that follows from the time of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Throughput {
    /// Declared bytes in 10^9 per second; `None` if the spec declares none.
    pub gb_per_s: Option<f64>,
    /// Declared floating-point operations in 10^9 per second; `None` if the spec declares none.
    pub gflop_per_s: Option<f64>,
    /// The share of the device's roofline, in percent; `None` if the device has no bound for the declared work.
    pub peak_percent: Option<f64>,
    /// Whether the peak is only an upper bound that no processor reaches. If so, the true share of the peak is larger
    /// than `peak_percent`. This holds on the cpu device, and for kernels that are limited by operations more than by
    /// bytes.
    pub peak_is_bound: bool,
    /// The declared bytes per second as a share of the copy bandwidth, in percent. It can be above 100 if the data is
    /// in the caches. `None` if either value is unknown.
    pub copy_percent: Option<f64>,
    /// Time of an almost empty launch, in nanoseconds; `None` if it could not be measured.
    pub launch_ns: Option<u64>,
    /// The launch overhead's share of the time, in percent; `None` if the overhead could not be measured.
    pub launch_percent: Option<f64>,
    /// Whether that share is so large that the time depends little on the kernel.
    pub launch_bound: bool,
}

impl Throughput {
    /// Computes the throughput from the time of one launch in nanoseconds.
    ///
    /// # Errors
    /// If the time is shorter than the device's roofline allows.
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
        // Units per nanosecond equal 10^9 units per second.
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
