//! Limits of well-known targets, for checks where no device is at hand.
//!
//! A constraint over `device.*` is an error in a spec only if it fails on *every* target here. At run
//! time the limits come from the driver, never from this table.
//!
//! Sources: CUDA C++ Programming Guide, "Compute Capabilities" (tables of technical specifications,
//! 8.6, 8.9, 9.0: threads, grid, shared memory per block by opt-in 99, 99 and 227 KiB); NVIDIA
//! architecture whitepapers (GA102, AD104, GH100) for the product named; the RDNA 3 ISA document
//! (64 KiB of LDS a workgroup, wave32) and the HIP hardware table for gfx1151.

use crate::device::Backend;
use crate::limits::DeviceLimits;

/// An architecture and what it can launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownTarget {
    /// The architecture: `sm_89`, `gfx1151`, `cpu`.
    pub arch: &'static str,
    /// The backend that launches on it.
    pub backend: Backend,
    /// Launch limits of the architecture; sizes of the product named in the table's source.
    pub limits: DeviceLimits,
}

/// Shared memory of a block that needs no opt-in on any CUDA device, in bytes.
pub const STATIC_SHARED_BYTES: u32 = 48 * 1024;

/// Threads of a block at most, on every target.
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;

const fn cuda(shared_kib: u32, multiprocessors: u32, l2_kib: u64, memory_gib: u64) -> DeviceLimits {
    DeviceLimits {
        max_threads_per_block: MAX_THREADS_PER_BLOCK,
        max_block: [1024, 1024, 64],
        max_grid: [0x7fff_ffff, 65_535, 65_535],
        shared_bytes_per_block: shared_kib * 1024,
        warp_size: 32,
        multiprocessors,
        l2_bytes: l2_kib * 1024,
        memory_bytes: memory_gib << 30,
    }
}

/// Every known target.
pub const TARGETS: &[KnownTarget] = &[
    KnownTarget {
        arch: "sm_86",
        backend: Backend::Cuda,
        // RTX 3090
        limits: cuda(99, 82, 6 * 1024, 24),
    },
    KnownTarget {
        arch: "sm_89",
        backend: Backend::Cuda,
        // L4
        limits: cuda(99, 58, 48 * 1024, 24),
    },
    KnownTarget {
        arch: "sm_90",
        backend: Backend::Cuda,
        // H100
        limits: cuda(227, 132, 50 * 1024, 80),
    },
    KnownTarget {
        arch: "gfx1151",
        backend: Backend::Hip,
        // Strix Halo
        limits: DeviceLimits {
            max_threads_per_block: MAX_THREADS_PER_BLOCK,
            max_block: [1024, 1024, 1024],
            max_grid: [0x7fff_ffff, 65_535, 65_535],
            shared_bytes_per_block: 64 * 1024,
            warp_size: 32,
            multiprocessors: 40,
            l2_bytes: 2 << 20,
            memory_bytes: 96 << 30,
        },
    },
    KnownTarget {
        arch: "cpu",
        backend: Backend::Cpu,
        limits: CPU_LIMITS,
    },
];

/// What the cpu device allows by default: the limits that every GPU above has in common, so that a
/// spec that runs there runs on them.
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
        assert_eq!(
            target("sm_89").map(|t| t.limits.shared_bytes_per_block),
            Some(101_376)
        );
        assert_eq!(
            target("sm_90").map(|t| t.limits.shared_bytes_per_block),
            Some(232_448)
        );
        assert!(target("sm_20").is_none());
    }
}
