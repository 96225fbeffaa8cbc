//! Occupancy: the number of blocks of a compiled kernel that fit on one multiprocessor, and the limiting resource.
//!
//! The occupancy is computed from the target table, without a device. The compiler reports registers and static shared
//! memory; threads and dynamic shared memory come from the launch plan. [`nvidia`] follows NVIDIA's `cuda_occupancy.h`,
//! and [`amd`] follows the rules of LLVM and HIP. Tests compare the results with these sources.

pub mod amd;
mod blocks;
pub mod nvidia;

pub use blocks::{BlockLimits, BlockNeeds, Limiter, Occupancy};

use crate::targets::{KnownTarget, Multiprocessor};

impl KnownTarget {
    /// The occupancy of one multiprocessor; `None` for the host processor.
    pub fn occupancy(&self, block: &BlockNeeds) -> Option<Occupancy> {
        let most = self.limits.max_threads_per_block;
        match &self.multiprocessor {
            Multiprocessor::Nvidia(sm) => {
                let shared = self.limits.shared_bytes_per_block;
                Some(nvidia::occupancy(sm, block, most, shared))
            }
            Multiprocessor::Amd(wgp) => {
                let shared = self.limits.shared_bytes_per_block;
                Some(amd::occupancy(wgp, block, most, shared))
            }
            Multiprocessor::Host => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::{TARGETS, target};

    fn needs(threads: u32, registers: u32, shared: u32) -> BlockNeeds {
        BlockNeeds {
            threads,
            registers,
            static_shared_bytes: shared,
            dynamic_shared_bytes: 0,
            barriers: 1,
        }
    }

    fn on(arch: &str, block: BlockNeeds) -> (u32, u32, Limiter) {
        let occupancy = target(arch).unwrap().occupancy(&block).unwrap();
        (occupancy.blocks, occupancy.warps, occupancy.limiter)
    }

    #[test]
    fn each_resource_limits_in_turn() {
        assert_eq!(on("sm_86", needs(256, 32, 0)), (6, 48, Limiter::Threads));
        assert_eq!(on("sm_86", needs(32, 32, 0)), (16, 16, Limiter::Blocks));
        assert_eq!(on("sm_89", needs(32, 32, 0)), (24, 24, Limiter::Blocks));
        assert_eq!(on("sm_86", needs(256, 128, 0)), (2, 16, Limiter::Registers));
        // 24 KiB plus the driver's 1 KiB fit four times into 100 KiB.
        assert_eq!(
            on("sm_86", needs(128, 32, 24 * 1024)),
            (4, 16, Limiter::Shared)
        );
        assert_eq!(
            on("sm_86", needs(128, 32, 25 * 1024)),
            (3, 12, Limiter::Shared)
        );
        assert_eq!(on("sm_90", needs(1024, 32, 0)), (2, 64, Limiter::Threads));
        assert_eq!(on("gfx1151", needs(256, 96, 0)), (8, 64, Limiter::Threads));
        assert_eq!(
            on("gfx1151", needs(256, 97, 0)),
            (6, 48, Limiter::Registers)
        );
        assert_eq!(
            on("gfx1151", needs(256, 24, 33 * 1024)),
            (3, 24, Limiter::Shared)
        );
    }

    #[test]
    fn what_one_block_may_not_have_fits_nowhere() {
        for arch in ["sm_86", "sm_89", "sm_90", "gfx1151"] {
            let most = target(arch).unwrap().limits.shared_bytes_per_block;
            assert_eq!(on(arch, needs(1025, 16, 0)).0, 0, "{arch}");
            assert_eq!(on(arch, needs(1024, 255, 0)).0, 0, "{arch}");
            assert!(on(arch, needs(32, 16, most)).0 > 0, "{arch}");
            assert_eq!(on(arch, needs(32, 16, most + 1)).0, 0, "{arch}");
        }
    }

    #[test]
    fn no_input_is_too_large() {
        let most = BlockNeeds {
            threads: u32::MAX,
            registers: u32::MAX,
            static_shared_bytes: u32::MAX,
            dynamic_shared_bytes: u32::MAX,
            barriers: u32::MAX,
        };
        for target in TARGETS {
            for block in [most, BlockNeeds::default()] {
                let occupancy = target.occupancy(&block);
                assert!(
                    occupancy.is_none_or(|o| o.fraction() <= 1.0),
                    "{}",
                    target.arch
                );
            }
        }
        assert!(target("cpu").unwrap().occupancy(&most).is_none());
    }

    #[test]
    fn more_of_anything_never_gives_more_blocks() {
        for arch in ["sm_86", "sm_89", "sm_90", "gfx1151"] {
            let blocks = |block| on(arch, block).0;
            for step in 0..64 {
                let (small, large) = (needs(128, 4 * step, 0), needs(128, 4 * step + 4, 0));
                assert!(blocks(small) >= blocks(large), "{arch} {large:?}");
                let (small, large) = (
                    needs(128, 32, 1024 * step),
                    needs(128, 32, 1024 * step + 999),
                );
                assert!(blocks(small) >= blocks(large), "{arch} {large:?}");
            }
        }
    }
}
