//! The resources that a block needs, and the number of blocks that fit on a multiprocessor.

use std::fmt;

/// The resources that one block of a kernel needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BlockNeeds {
    /// Threads per block.
    pub threads: u32,
    /// 32-bit registers per thread (vector registers on AMD).
    pub registers: u32,
    /// Static shared memory per block, in bytes.
    pub static_shared_bytes: u32,
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// Number of block barriers that the kernel uses.
    pub barriers: u32,
}

impl BlockNeeds {
    /// Static and dynamic shared memory together, in bytes.
    pub fn shared_bytes(&self) -> u64 {
        u64::from(self.static_shared_bytes) + u64::from(self.dynamic_shared_bytes)
    }
}

/// The resource of a multiprocessor that limits the number of resident blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limiter {
    /// The slots for threads (warps, waves).
    Threads,
    /// The slots for blocks.
    Blocks,
    /// The registers.
    Registers,
    /// The shared memory.
    Shared,
    /// The block barriers.
    Barriers,
}

impl Limiter {
    /// The name of the resource in tables.
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

/// For each resource, the number of blocks for which it suffices. `u32::MAX` means that the resource does not limit the
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    /// Limit by thread slots; 0 if the block has more threads than the device allows.
    pub threads: u32,
    /// Limit by block slots.
    pub blocks: u32,
    /// Limit by registers; 0 if the block needs more registers than the device allows.
    pub registers: u32,
    /// Limit by shared memory; 0 if the block needs more than the device allows.
    pub shared: u32,
    /// Limit by block barriers.
    pub barriers: u32,
}

impl BlockLimits {
    /// Each limit with its resource. If several limits are equally low, the first one in this order counts as the
    /// limiting resource.
    pub fn named(&self) -> [(Limiter, u32); 5] {
        [
            (Limiter::Threads, self.threads),
            (Limiter::Blocks, self.blocks),
            (Limiter::Registers, self.registers),
            (Limiter::Shared, self.shared),
            (Limiter::Barriers, self.barriers),
        ]
    }

    /// The number of blocks that fit, with the limiting resource.
    pub fn least(&self) -> (Limiter, u32) {
        let [first, rest @ ..] = self.named();
        rest.into_iter().fold(
            first,
            |least, next| if next.1 < least.1 { next } else { least },
        )
    }
}

/// The occupancy of one multiprocessor with blocks of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Number of resident blocks. If it is 0, not even one block fits, and the kernel cannot be launched.
    pub blocks: u32,
    /// Number of resident warps (waves).
    pub warps: u32,
    /// Maximum number of resident warps (waves) for any kernel.
    pub max_warps: u32,
    /// The resource that limits the number of blocks.
    pub limiter: Limiter,
}

impl Occupancy {
    /// Resident warps divided by the maximum, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.max_warps.max(1))
    }

    /// The occupancy that follows from these limits.
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

/// How many times `part` fits into `whole`; `u32::MAX` if `part` is 0.
pub(super) fn fit(whole: u64, part: u64) -> u32 {
    let times = whole.checked_div(part).unwrap_or(u64::MAX);
    u32::try_from(times).unwrap_or(u32::MAX)
}
