//! What blocks take up, and how many fit.

use std::fmt;

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

    /// What these limits come to.
    pub(super) fn of(limits: &BlockLimits, warps_per_block: u32, max_warps: u32) -> Occupancy {
        let (limiter, blocks) = limits.least();
        Occupancy {
            blocks,
            warps: blocks.saturating_mul(warps_per_block),
            max_warps,
            limiter,
        }
    }
}

/// `value` rounded up to a multiple of `granularity`.
pub(super) fn round_up(value: u64, granularity: u32) -> u64 {
    value.next_multiple_of(u64::from(granularity.max(1)))
}

/// How often `part` goes into `whole`; without bound for a part of nothing.
pub(super) fn fit(whole: u64, part: u64) -> u32 {
    let times = whole.checked_div(part).unwrap_or(u64::MAX);
    u32::try_from(times).unwrap_or(u32::MAX)
}
