//! What a compiled kernel executes and moves, counted by a simulated GPU. Nothing here is a time.

mod executed;
mod hot_loop;
mod table;
mod worst;

use kiln::backend::sim::LaunchProfile;
use serde::Serialize;

pub use executed::Executed;
pub use hot_loop::HotLoop;
pub use table::{ProfileRow, to_text};
pub use worst::{Line, Worst, WorstKind};

/// The bytes of a sector of global memory.
const SECTOR_BYTES: f64 = 32.0;

/// The profile of one launch.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// The release entry.
    pub symbol: String,
    /// Blocks of the launch.
    pub blocks: u64,
    /// How many of them were executed; all figures but `moved_bytes` are theirs.
    pub executed_blocks: u64,
    /// What they executed.
    #[serde(flatten)]
    pub executed: Executed,
    /// Bytes that the whole launch moves between multiprocessors and global memory, in sectors of 32 bytes, if all its
    /// blocks are like the executed ones. Caches are not counted.
    pub moved_bytes: f64,
    /// The same over the bytes that the spec declares as the least, if it declares them.
    pub moved_over_least: Option<f64>,
    /// The innermost loop that holds most of what was executed.
    pub hot_loop: Option<HotLoop>,
    /// Where each kind of cost is the highest.
    pub worst: Vec<Worst>,
}

impl Profile {
    /// Summarizes a launch; `least_bytes` is the declared work, 0 if there is none.
    pub fn new(launch: &LaunchProfile, least_bytes: u64) -> Profile {
        let all = 0..launch.instructions.len();
        let executed = Executed::of(launch, all);
        let scale = launch.blocks as f64 / launch.executed_blocks.max(1) as f64;
        let moved_bytes = launch.counters.total().global_sectors as f64 * SECTOR_BYTES * scale;
        Profile {
            symbol: launch.symbol.clone(),
            blocks: launch.blocks,
            executed_blocks: launch.executed_blocks,
            moved_bytes,
            moved_over_least: (least_bytes > 0).then(|| moved_bytes / least_bytes as f64),
            hot_loop: HotLoop::find(launch),
            worst: worst::find(launch),
            executed,
        }
    }
}

#[cfg(test)]
mod tests;
