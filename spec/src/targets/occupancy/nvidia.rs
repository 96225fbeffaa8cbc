//! The occupancy of NVIDIA GPUs of compute capability 8.6 to 9.0, by the rules of `cuda_occupancy.h`. The computation
//! assumes the largest shared-memory carve-out and, for blocks with more than 48 KiB of shared memory, the opt-in that
//! a launch requests.

use super::blocks::{BlockLimits, BlockNeeds, Occupancy, fit, round_up};
use crate::targets::NvidiaSm;

/// Threads per warp.
const WARP: u32 = 32;

/// The occupancy of a streaming multiprocessor. `most_threads` and `most_shared` are the device's limits for one block,
/// in threads and in bytes of shared memory.
pub fn occupancy(
    sm: &NvidiaSm,
    block: &BlockNeeds,
    most_threads: u32,
    most_shared: u32,
) -> Occupancy {
    let limits = block_limits(sm, block, most_threads, most_shared);
    Occupancy::of(&limits, warps(block), sm.max_threads / WARP)
}

/// For each resource of a streaming multiprocessor, the number of blocks for which it suffices.
pub fn block_limits(
    sm: &NvidiaSm,
    block: &BlockNeeds,
    most_threads: u32,
    most_shared: u32,
) -> BlockLimits {
    let threads = if block.threads > most_threads {
        0
    } else {
        sm.max_threads / WARP / warps(block)
    };
    BlockLimits {
        threads,
        blocks: sm.max_blocks,
        registers: by_registers(sm, block),
        shared: by_shared(sm, block, most_shared),
        barriers: match sm.barriers {
            Some(barriers) => fit(barriers.into(), block.barriers.into()),
            None => u32::MAX,
        },
    }
}

fn warps(block: &BlockNeeds) -> u32 {
    block.threads.div_ceil(WARP).max(1)
}

/// The number of blocks for which the registers suffice. Each warp takes its registers from one partition. For the
/// limit per block, the number of warps is rounded up to a multiple of the number of partitions.
fn by_registers(sm: &NvidiaSm, block: &BlockNeeds) -> u32 {
    let warp = round_up(
        u64::from(block.registers) * u64::from(WARP),
        sm.register_granularity,
    );
    let assumed = warp.saturating_mul(round_up(warps(block).into(), sm.partitions));
    if assumed > u64::from(sm.registers_per_block) || block.registers > sm.registers_per_thread {
        return 0;
    }
    match fit(u64::from(sm.registers / sm.partitions), warp) {
        u32::MAX => u32::MAX,
        per_partition => per_partition.saturating_mul(sm.partitions) / warps(block),
    }
}

fn by_shared(sm: &NvidiaSm, block: &BlockNeeds, most: u32) -> u32 {
    let reserved = u64::from(sm.reserved_shared_bytes);
    let taken = round_up(block.shared_bytes() + reserved, sm.shared_granularity);
    if taken > u64::from(most) + reserved {
        return 0;
    }
    fit(sm.shared_bytes.into(), taken)
}
