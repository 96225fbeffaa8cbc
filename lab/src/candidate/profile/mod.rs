//! Summarizes what a simulated GPU counted in a launch: executed instructions and moved bytes. No figure here is a
//! time.

mod executed;
mod hot_loop;
mod worst;

use kiln::backend::sim::LaunchProfile;
use kiln_exchange::profiles::Profile;

pub(super) use executed::class_name;

/// The size of a sector of global memory in bytes.
const SECTOR_BYTES: f64 = 32.0;

/// Summarizes a launch. `least_bytes` is the number of bytes that the spec declares as the least work, or 0 if it
/// declares none.
pub fn of_launch(launch: &LaunchProfile, least_bytes: u64) -> Profile {
    let scale = launch.blocks as f64 / launch.executed_blocks.max(1) as f64;
    let moved_bytes = launch.counters.total().global_sectors as f64 * SECTOR_BYTES * scale;
    Profile {
        symbol: launch.symbol.clone(),
        blocks: launch.blocks,
        executed_blocks: launch.executed_blocks,
        moved_bytes,
        moved_over_least: (least_bytes > 0).then(|| moved_bytes / least_bytes as f64),
        hot_loop: hot_loop::find(launch),
        worst: worst::find(launch),
        executed: executed::sum(launch, 0..launch.instructions.len()),
        machine_code: None,
        no_machine_code: None,
    }
}

#[cfg(test)]
mod tests;
