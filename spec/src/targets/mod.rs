//! Well-known targets: what each can launch, hold and do at most, for work without a device.
//!
//! A constraint over `device.*` is an error in a spec only if it fails on *every* target here; `tune inspect` and
//! `tune run --compile-only` take limits and occupancy from here. At run time limits come from the driver, never from
//! this table. Where each figure was read stands beside it in [`Source`].

mod amd;
mod nvidia;
mod rows;

pub use amd::AmdWgp;
pub use nvidia::NvidiaSm;
pub use rows::TARGETS;

use crate::device::Backend;
use crate::limits::DeviceLimits;

/// An architecture, as one product has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownTarget {
    /// The architecture: `sm_89`, `gfx1151`, `cpu`.
    pub arch: &'static str,
    /// The product that sizes and peaks are of, as its driver names it.
    pub product: &'static str,
    /// The backend that launches on it.
    pub backend: Backend,
    /// Launch limits of the architecture, sizes of the product.
    pub limits: DeviceLimits,
    /// What one multiprocessor holds.
    pub multiprocessor: Multiprocessor,
    /// What the product does at most; none for the processor at hand.
    pub peaks: Option<Peaks>,
    /// Where the figures were read.
    pub sources: &'static [Source],
}

/// What one multiprocessor holds, by vendor: they hand out registers and shared memory in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiprocessor {
    /// A streaming multiprocessor.
    Nvidia(NvidiaSm),
    /// A workgroup processor.
    Amd(AmdWgp),
    /// The processor at hand: blocks run one after the other on each core.
    Host,
}

/// What a product does at most: each figure a bound that no kernel reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peaks {
    /// Boost clock of the multiprocessors, in Hz.
    pub clock_hz: u64,
    /// Bytes a second from and to device memory.
    pub memory_bytes_per_s: u64,
    /// Single-precision operations a second, outside the matrix units.
    pub f32_flops_per_s: u64,
    /// Operations a second of the matrix units on half-precision inputs with single-precision sums, dense.
    pub f16_matrix_flops_per_s: u64,
}

/// Where figures of a row were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Which figures.
    pub figures: &'static str,
    /// The document and the place in it.
    pub read_in: &'static str,
}

/// Shared memory of a block that needs no opt-in on any CUDA device, in bytes; also the most that can be static.
pub const STATIC_SHARED_BYTES: u32 = 48 * 1024;

/// Threads of a block at most, on every target.
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;

/// What the cpu device allows by default: the limits that every GPU here has in common, so that a spec that runs
/// there runs on them.
pub const CPU_LIMITS: DeviceLimits = DeviceLimits {
    max_threads_per_block: MAX_THREADS_PER_BLOCK,
    max_block: [1024, 1024, 64],
    max_grid: [0x7fff_ffff, 65_535, 65_535],
    shared_bytes_per_block: STATIC_SHARED_BYTES,
    warp_size: 32,
    multiprocessors: 1,
    l2_bytes: 0,
    memory_bytes: 0,
};

/// The target of that architecture.
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
        // Lanes of a multiprocessor times two operations (a fused multiply-add), times multiprocessors, times the clock.
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
