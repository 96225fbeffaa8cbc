//! Upper bounds of a device's throughput. A measured time that implies more throughput is a measurement error.

use kiln::device::DeviceInfo;
use kiln_spec::{Backend, KernelSpec, Problem, expr};

use kiln_measure::roofline::{LeastWork, Roofline};

/// A clock frequency that no processor sold today reaches, in Hz. The bound therefore also holds for boost clocks.
const MAX_HZ: u64 = 7_000_000_000;

/// Maximum number of single-precision operations per core and cycle: two fused multiply-adds of 16 lanes (AVX-512
/// with two units).
const FLOPS_PER_CYCLE: u64 = 2 * 2 * 16;

/// Maximum number of bytes per cycle between a core and its first-level cache: two loads and one store of 64 bytes.
const BYTES_PER_CYCLE: u64 = 3 * 64;

/// Maximum number of 16-bit floating-point operations of matrix products per NVIDIA multiprocessor and cycle. No GPU
/// sold today exceeds 8,192 (Blackwell's data sheets: dense f16 at the boost clock). The bound is twice that number.
const MATRIX_FLOPS_PER_CYCLE: u64 = 2 * 8192;

/// The maximum boost clock of a GPU, in percent of the clock that its driver reports.
const BOOST_PERCENT: u64 = 110;

/// The roofline of a device: upper bounds that no launch can exceed. A quantity that the driver does not report has no
/// bound. AMD GPUs and the fake device have no bounds.
pub fn roofline(info: &DeviceInfo) -> Roofline {
    match info.key.backend {
        Backend::Cpu => of_cpu(info),
        Backend::Cuda => of_cuda(info),
        // The memory clock that the HIP runtime reports differs from the data rate by a factor that depends on the type
        // of memory.
        Backend::Hip | Backend::Fake => Roofline::default(),
    }
}

fn of_cpu(info: &DeviceInfo) -> Roofline {
    let cores = u64::from(info.limits.multiprocessors.max(1));
    Roofline {
        flops_per_s: Some(cores * MAX_HZ * FLOPS_PER_CYCLE),
        bytes_per_s: Some(cores * MAX_HZ * BYTES_PER_CYCLE),
    }
}

/// The bounds come from the driver's attributes, not from a table by architecture. For example, the H100 and the H200
/// are both sm_90, but their bandwidths are 3.35 TB/s and 4.8 TB/s.
fn of_cuda(info: &DeviceInfo) -> Roofline {
    let field = |name: &str| -> Option<u64> {
        let value = info.fingerprint.get(name)?.parse().ok()?;
        (value > 0).then_some(value)
    };
    let sms = u64::from(info.limits.multiprocessors);
    let flops = |khz: u64| khz * 1000 / 100 * BOOST_PERCENT * sms * MATRIX_FLOPS_PER_CYCLE;
    let memory = field("memory_clock_khz").zip(field("memory_bus_bits"));
    Roofline {
        flops_per_s: field("clock_khz").map(flops),
        // There are two transfers per cycle: 2,619 MHz and 5,120 bits give the 3.35 TB/s of an H100.
        bytes_per_s: memory.map(|(khz, bits)| khz * 1000 * 2 * (bits / 8)),
    }
}

/// The work of a launch, without the bytes that may still be in the last-level cache after the previous launch, because
/// the memory bandwidth limits only the other bytes. On the cpu, returns `work` unchanged.
pub fn beyond_the_cache(info: &DeviceInfo, work: LeastWork) -> LeastWork {
    match info.key.backend {
        Backend::Cpu => work,
        _ => LeastWork {
            bytes: work.bytes.saturating_sub(info.limits.l2_bytes),
            ..work
        },
    }
}

/// The least work of one launch, as the spec declares it: operations and bytes. A quantity is 0 if it is not declared
/// or cannot be computed.
pub fn work(spec: &KernelSpec, problem: &Problem) -> LeastWork {
    let amount = |declared: &Option<expr::Expr>| {
        let value = declared
            .as_ref()
            .and_then(|expr| expr::evaluate_int(expr, problem).ok());
        value
            .and_then(|value| u64::try_from(value).ok())
            .unwrap_or(0)
    };
    LeastWork {
        flops: amount(&spec.work.flops),
        bytes: amount(&spec.work.bytes),
    }
}

#[cfg(test)]
mod tests {
    use kiln_spec::{DeviceKey, targets};

    use super::*;

    fn device(name: &str, fields: [(&str, &str); 3], multiprocessors: u32) -> DeviceInfo {
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        DeviceInfo {
            key: DeviceKey {
                backend: Backend::Cuda,
                arch: "sm_90".into(),
                name: name.into(),
            },
            limits: kiln_spec::DeviceLimits {
                multiprocessors,
                l2_bytes: 50 << 20,
                ..targets::CPU_LIMITS
            },
            fingerprint: fields.into(),
            instance: std::collections::BTreeMap::new(),
            ordinal: 0,
            timer_tick_ns: 10_000,
            is_simulated: false,
        }
    }

    fn h100() -> DeviceInfo {
        let clocks = [
            ("clock_khz", "1980000"),
            ("memory_clock_khz", "2619000"),
            ("memory_bus_bits", "5120"),
        ];
        device("NVIDIA H100 80GB HBM3", clocks, 132)
    }

    #[test]
    fn a_gpus_bandwidth_is_that_of_its_data_sheet() {
        let sheets = [
            (h100(), 3.35e12),
            (
                device(
                    "NVIDIA GeForce RTX 3090",
                    [
                        ("clock_khz", "1695000"),
                        ("memory_clock_khz", "9751000"),
                        ("memory_bus_bits", "384"),
                    ],
                    82,
                ),
                936e9,
            ),
            (
                device(
                    "NVIDIA L4",
                    [
                        ("clock_khz", "2040000"),
                        ("memory_clock_khz", "6251000"),
                        ("memory_bus_bits", "192"),
                    ],
                    58,
                ),
                300e9,
            ),
        ];
        for (info, sheet) in sheets {
            let bytes = roofline(&info).bytes_per_s.unwrap() as f64;
            assert!((bytes / sheet - 1.0).abs() < 0.01, "{}: {bytes}", info.key);
        }
    }

    #[test]
    fn a_time_that_no_gpu_reaches_is_refused_and_one_at_its_bandwidth_is_not() {
        let info = h100();
        let roofline = roofline(&info);
        // The sum of two tensors of 33.5 million elements each moves 402 MB, which takes 120 us at 3.35 TB/s. The cache
        // may hold 52 MB of it.
        let add = beyond_the_cache(
            &info,
            LeastWork {
                flops: 33_554_432,
                bytes: 3 * 4 * 33_554_432,
            },
        );
        assert!(roofline.check(add, 121_000).is_ok());
        assert!(roofline.check(add, 90_000).is_err());
        // Data that stays in the cache is not limited by the memory bandwidth.
        let small = beyond_the_cache(
            &info,
            LeastWork {
                flops: 1 << 20,
                bytes: 12 << 20,
            },
        );
        assert!(roofline.check(small, 2_000).is_ok());
        // A product of 16-bit matrices of size 8,192 takes 1.4 ms at 800 TFLOP/s, so a launch of 0.1 ms cannot have
        // done this work.
        let product = LeastWork {
            flops: 2 << 39,
            bytes: 0,
        };
        assert!(roofline.check(product, 1_400_000).is_ok());
        assert!(roofline.check(product, 100_000).is_err());
    }

    #[test]
    fn a_driver_that_tells_no_clocks_bounds_nothing() {
        let unknown = ["clock_khz", "memory_clock_khz", "memory_bus_bits"];
        let info = device("GPU", unknown.map(|name| (name, "unknown")), 10);
        assert_eq!(roofline(&info), Roofline::default());
        let zero = device("GPU", unknown.map(|name| (name, "0")), 10);
        assert_eq!(roofline(&zero), Roofline::default());
    }
}
