//! How many blocks of a compiled kernel fit on one multiprocessor, and what keeps more from it.
//!
//! Pure arithmetic over the target table, for compile-time facts: registers and static shared memory come from the
//! compiler, threads and dynamic shared memory from the launch plan. [`nvidia`] follows NVIDIA's own
//! `cuda_occupancy.h`, [`amd`] the rules of LLVM and HIP; tests compare with both.

pub mod amd;
pub mod nvidia;

use std::fmt;

use crate::targets::{KnownTarget, Multiprocessor};

/// What one block takes up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BlockNeeds {
    /// Threads.
    pub threads: u32,
    /// 32-bit registers of a thread (vector registers on AMD).
    pub registers: u32,
    /// Static shared memory, in bytes.
    pub static_shared_bytes: u32,
    /// Dynamic shared memory, in bytes.
    pub dynamic_shared_bytes: u32,
    /// Block barriers that the kernel uses.
    pub barriers: u32,
}

impl BlockNeeds {
    /// Static and dynamic shared memory together, in bytes.
    pub fn shared_bytes(&self) -> u64 {
        u64::from(self.static_shared_bytes) + u64::from(self.dynamic_shared_bytes)
    }
}

/// What keeps a multiprocessor from holding more blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limiter {
    /// Its thread slots (warps, waves) are taken.
    Threads,
    /// Its block slots are taken.
    Blocks,
    /// Its registers are taken.
    Registers,
    /// Its shared memory is taken.
    Shared,
    /// Its block barriers are taken.
    Barriers,
}

impl Limiter {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Limiter::Threads => "threads",
            Limiter::Blocks => "blocks",
            Limiter::Registers => "registers",
            Limiter::Shared => "shared",
            Limiter::Barriers => "barriers",
        }
    }
}

impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Blocks that each resource has room for; `u32::MAX` where it bounds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    /// By thread slots; 0 where the block has more threads than a block may have.
    pub threads: u32,
    /// By block slots.
    pub blocks: u32,
    /// By registers; 0 where the block needs more than a block may have.
    pub registers: u32,
    /// By shared memory; 0 where the block needs more than a block may have.
    pub shared: u32,
    /// By block barriers.
    pub barriers: u32,
}

impl BlockLimits {
    /// Each limit with its name, in the order in which ties are told.
    pub fn named(&self) -> [(Limiter, u32); 5] {
        [
            (Limiter::Threads, self.threads),
            (Limiter::Blocks, self.blocks),
            (Limiter::Registers, self.registers),
            (Limiter::Shared, self.shared),
            (Limiter::Barriers, self.barriers),
        ]
    }

    /// Blocks that fit, and what keeps more out: the first of those that tie.
    pub fn least(&self) -> (Limiter, u32) {
        let [first, rest @ ..] = self.named();
        rest.into_iter().fold(
            first,
            |least, next| if next.1 < least.1 { next } else { least },
        )
    }
}

/// How full a multiprocessor gets with blocks of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Resident blocks; 0 where not even one fits: it cannot be launched.
    pub blocks: u32,
    /// Resident warps (waves).
    pub warps: u32,
    /// Resident warps (waves) at most, whatever the kernel.
    pub max_warps: u32,
    /// What keeps more out.
    pub limiter: Limiter,
}

impl Occupancy {
    /// Resident warps over the most possible, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.max_warps.max(1))
    }

    fn of(limits: &BlockLimits, warps_per_block: u32, max_warps: u32) -> Occupancy {
        let (limiter, blocks) = limits.least();
        Occupancy {
            blocks,
            warps: blocks.saturating_mul(warps_per_block),
            max_warps,
            limiter,
        }
    }
}

impl KnownTarget {
    /// How full a multiprocessor gets; `None` for a processor that has none.
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

/// `value` rounded up to a multiple of `granularity`.
fn round_up(value: u64, granularity: u32) -> u64 {
    value.next_multiple_of(u64::from(granularity.max(1)))
}

/// How often `part` goes into `whole`; without bound for a part of nothing.
fn fit(whole: u64, part: u64) -> u32 {
    let times = whole.checked_div(part).unwrap_or(u64::MAX);
    u32::try_from(times).unwrap_or(u32::MAX)
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
        // 24 KiB and the driver's one, four times into 100.
        assert_eq!(
            on("sm_86", needs(128, 32, 24 * 1024)),
            (4, 16, Limiter::Shared)
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
