//! The occupancy of AMD RDNA in workgroup-processor mode. Waves are counted by the rules of LLVM, and workgroups by the
//! rules of HIP.

use super::blocks::{BlockLimits, BlockNeeds, Occupancy, fit, round_up};
use crate::targets::AmdWgp;

/// The occupancy of a workgroup processor. `most_threads` and `most_shared` are the device's limits for one workgroup,
/// in threads and in bytes of local data share.
pub fn occupancy(
    wgp: &AmdWgp,
    block: &BlockNeeds,
    most_threads: u32,
    most_shared: u32,
) -> Occupancy {
    let limits = block_limits(wgp, block, most_threads, most_shared);
    Occupancy::of(&limits, waves(wgp, block), wgp.simds * wgp.waves_per_simd)
}

/// For each resource of a workgroup processor, the number of workgroups for which it suffices. Wave slots and vector
/// registers follow HIP's `hipOccupancyMaxActiveBlocksPerMultiprocessor`, and barriers follow LLVM.
pub fn block_limits(
    wgp: &AmdWgp,
    block: &BlockNeeds,
    most_threads: u32,
    most_shared: u32,
) -> BlockLimits {
    let waves = waves(wgp, block);
    let slots = wgp.simds * wgp.waves_per_simd;
    let threads = if block.threads > most_threads {
        0
    } else {
        slots / waves
    };
    BlockLimits {
        threads,
        // A workgroup of one wave needs no barrier.
        blocks: if waves == 1 { slots } else { wgp.max_barriers },
        registers: waves_by_registers(wgp, block.registers).saturating_mul(wgp.simds) / waves,
        shared: if block.shared_bytes() > u64::from(most_shared) {
            0
        } else {
            let taken = round_up(block.shared_bytes(), wgp.shared_granularity);
            fit(wgp.shared_bytes.into(), taken)
        },
        barriers: u32::MAX,
    }
}

/// Waves per SIMD as compilers report them (`Occupancy [waves/SIMD]`): the minimum that wave slots, vector registers,
/// local data share and barriers allow. Unlike [`occupancy`], it counts waves that do not form a whole workgroup.
pub fn waves_per_simd(wgp: &AmdWgp, block: &BlockNeeds) -> u32 {
    let waves = waves(wgp, block);
    let slots = wgp.simds * wgp.waves_per_simd;
    let by_barriers = if waves == 1 { slots } else { wgp.max_barriers };
    let taken = round_up(block.shared_bytes(), wgp.shared_granularity);
    let by_shared = fit(wgp.shared_bytes.into(), taken);
    let groups = (slots / waves).min(by_barriers).min(by_shared);
    let by_groups = groups.saturating_mul(waves).div_ceil(wgp.simds);
    // Like LLVM, report one wave even if no whole workgroup fits.
    by_groups
        .clamp(1, wgp.waves_per_simd)
        .min(waves_by_registers(wgp, block.registers))
}

fn waves(wgp: &AmdWgp, block: &BlockNeeds) -> u32 {
    block.threads.div_ceil(wgp.wave_size).max(1)
}

/// The number of waves for which the vector registers of one SIMD suffice.
fn waves_by_registers(wgp: &AmdWgp, registers: u32) -> u32 {
    if registers > wgp.registers_per_thread {
        return 0;
    }
    let taken = round_up(registers.max(1).into(), wgp.register_granularity);
    fit(wgp.vector_registers.into(), taken).min(wgp.waves_per_simd)
}
