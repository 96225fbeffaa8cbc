//! Counts the instructions that launches execute.

use std::sync::{Mutex, MutexGuard, PoisonError};

use kiln_sim::{Counters, Fault, InstructionInfo, Kernel, Launch, Memory};

use crate::device::DeviceError;

/// Counts of the instructions that one launch executed. A profiled launch may execute only a part of its blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchProfile {
    /// The symbol of the launched entry.
    pub symbol: String,
    /// The instructions of the entry, in the order in which `counters` lists them.
    pub instructions: Vec<InstructionInfo>,
    /// The counts, summed over the executed blocks.
    pub counters: Counters,
    /// The number of blocks that were executed.
    pub executed_blocks: u64,
    /// The number of blocks in the grid.
    pub blocks: u64,
}

/// Profiles launches, if a profile is requested.
#[derive(Debug, Default)]
pub(super) struct Profiler {
    state: Mutex<Option<Wanted>>,
    /// Locked during a profile, so only one thread profiles at a time.
    turn: Mutex<()>,
}

#[derive(Debug)]
struct Wanted {
    max_blocks: u64,
    launched: Option<LaunchProfile>,
}

impl Profiler {
    fn state(&self) -> MutexGuard<'_, Option<Wanted>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn profile<E: From<DeviceError>>(
        &self,
        max_blocks: u64,
        launch: impl FnOnce() -> Result<(), E>,
    ) -> Result<LaunchProfile, E> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        *self.state() = Some(Wanted {
            max_blocks: max_blocks.max(1),
            launched: None,
        });
        let result = launch();
        let launched = self.state().take().and_then(|wanted| wanted.launched);
        result?;
        let nothing = || DeviceError::NotFound {
            what: "a launch to profile".into(),
            text: "nothing was launched".into(),
        };
        Ok(launched.ok_or_else(nothing)?)
    }

    /// Runs a launch. If a profile is requested, only a sample of the blocks runs.
    pub(super) fn launch(
        &self,
        symbol: &str,
        kernel: &Kernel,
        launch: &Launch,
        memory: &Memory,
    ) -> Result<(), Fault> {
        let max_blocks = self.state().as_ref().map(|wanted| wanted.max_blocks);
        let Some(max_blocks) = max_blocks else {
            return kernel.launch(launch, memory).map(drop);
        };
        let sample = sample(launch.blocks(), max_blocks);
        let executed_blocks = sample.len() as u64;
        let counters = kernel.launch_blocks(launch, memory, sample)?;
        if let Some(wanted) = self.state().as_mut() {
            wanted.launched = Some(LaunchProfile {
                symbol: symbol.into(),
                instructions: kernel.instructions(),
                counters,
                executed_blocks,
                blocks: launch.blocks(),
            });
        }
        Ok(())
    }
}

/// At most `count` of `blocks` block numbers, evenly distributed. They include the first and the last block. If `count`
/// is 1 and there are several blocks, the only number is that of the middle block.
fn sample(blocks: u64, count: u64) -> Vec<u64> {
    if blocks <= count {
        return (0..blocks).collect();
    }
    if count == 1 {
        return vec![blocks / 2];
    }
    let place = |i: u64| u128::from(i) * u128::from(blocks - 1) / u128::from(count - 1);
    (0..count).map(|i| place(i) as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_over_the_grid_and_holds_its_ends() {
        assert_eq!(sample(3, 8), [0, 1, 2]);
        assert_eq!(sample(100, 4), [0, 33, 66, 99]);
        assert_eq!(sample(100, 1), [50]);
        assert_eq!(sample(u64::MAX, 2), [0, u64::MAX - 1]);
    }
}
