//! Known targets: their launch limits, resources and peaks. With this table, Kiln can work without a device.
//!
//! A constraint over `device.*` is an error in a spec only if it fails on *every* target of the table. `tune inspect`
//! and `tune run --compile-only` read limits and occupancy from the table. A launch reads its limits from the driver
//! instead. [`Source`] names the document from which each figure comes.

mod amd;
mod known;
mod nvidia;
#[doc(hidden)]
pub mod occupancy;
mod rows;

pub use amd::AmdWgp;
pub use known::{
    CPU_LIMITS, KnownTarget, MAX_THREADS_PER_BLOCK, Multiprocessor, Peaks, STATIC_SHARED_BYTES,
    Source,
};
pub use nvidia::NvidiaSm;
pub use rows::TARGETS;

/// The target with this architecture, if the table contains it.
pub fn target(arch: &str) -> Option<&'static KnownTarget> {
    TARGETS.iter().find(|target| target.arch == arch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_cpu_device_launches_every_target_launches() {
        for target in TARGETS {
            let (limits, cpu) = (&target.limits, &CPU_LIMITS);
            assert!(limits.max_threads_per_block >= cpu.max_threads_per_block);
            assert!(limits.shared_bytes_per_block >= cpu.shared_bytes_per_block);
            for axis in 0..3 {
                assert!(
                    limits.max_block[axis] >= cpu.max_block[axis],
                    "{}",
                    target.arch
                );
                assert!(
                    limits.max_grid[axis] >= cpu.max_grid[axis],
                    "{}",
                    target.arch
                );
            }
        }
        let shared = |arch: &str| target(arch).map(|t| t.limits.shared_bytes_per_block);
        assert_eq!(shared("sm_89"), Some(101_376));
        assert_eq!(shared("sm_90"), Some(232_448));
        assert!(target("sm_20").is_none());
    }

    #[test]
    fn peaks_are_what_units_times_clock_give() {
        // The peak is the product of the lanes per multiprocessor, two operations (a fused multiply-add), the number of
        // multiprocessors and the clock.
        for (arch, operations) in [
            ("sm_86", 256),
            ("sm_89", 256),
            ("sm_90", 256),
            ("gfx1151", 512),
        ] {
            let target = target(arch).unwrap();
            let peaks = target.peaks.unwrap();
            let computed = u64::from(target.limits.multiprocessors) * operations * peaks.clock_hz;
            assert!(
                computed.abs_diff(peaks.f32_flops_per_s) <= computed / 200,
                "{arch}: {computed}"
            );
        }
    }

    #[test]
    fn architectures_are_named_once_and_figures_have_sources() {
        for (index, target) in TARGETS.iter().enumerate() {
            assert!(
                TARGETS[..index]
                    .iter()
                    .all(|other| other.arch != target.arch)
            );
            assert!(!target.sources.is_empty(), "{}", target.arch);
            assert_eq!(
                target.peaks.is_none(),
                target.multiprocessor == Multiprocessor::Host
            );
        }
    }
}
