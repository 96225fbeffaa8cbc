//! The resources of blocks, and how many blocks fit.

use std::fmt;

/// The resources of one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BlockNeeds {
    /// Threads.
    pub threads: u32,
    /// 32-bit registers per thread (vector registers on AMD).
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

/// The resource that limits the number of blocks on a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limiter {
    /// Its thread slots (warps, waves) are used up.
    Threads,
    /// Its block slots are used up.
    Blocks,
    /// Its registers are used up.
    Registers,
    /// Its shared memory is used up.
    Shared,
    /// Its block barriers are used up.
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

/// The number of blocks for which each resource suffices; `u32::MAX` if it is not a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    /// By thread slots; 0 if the block has more threads than allowed.
    pub threads: u32,
    /// By block slots.
    pub blocks: u32,
    /// By registers; 0 if the block needs more than allowed.
    pub registers: u32,
    /// By shared memory; 0 if the block needs more than allowed.
    pub shared: u32,
    /// By block barriers.
    pub barriers: u32,
}

impl BlockLimits {
    /// Each limit with its name, in the order in which ties are resolved.
    pub fn named(&self) -> [(Limiter, u32); 5] {
        [
            (Limiter::Threads, self.threads),
            (Limiter::Blocks, self.blocks),
            (Limiter::Registers, self.registers),
            (Limiter::Shared, self.shared),
            (Limiter::Barriers, self.barriers),
        ]
    }

    /// The number of blocks that fit, and the limiting resource: the first one of a tie.
    pub fn least(&self) -> (Limiter, u32) {
        let [first, rest @ ..] = self.named();
        rest.into_iter().fold(
            first,
            |least, next| if next.1 < least.1 { next } else { least },
        )
    }
}

/// The occupancy of a multiprocessor with blocks of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Resident blocks; 0 if not even one fits, so that it cannot be launched.
    pub blocks: u32,
    /// Resident warps (waves).
    pub warps: u32,
    /// Maximum number of resident warps (waves) for any kernel.
    pub max_warps: u32,
    /// The limiting resource.
    pub limiter: Limiter,
}

impl Occupancy {
    /// Resident warps over the maximum, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.max_warps.max(1))
    }

    /// The occupancy under these limits.
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

/// How often `part` fits into `whole`; unlimited if `part` is 0.
pub(super) fn fit(whole: u64, part: u64) -> u32 {
    let times = whole.checked_div(part).unwrap_or(u64::MAX);
    u32::try_from(times).unwrap_or(u32::MAX)
}
