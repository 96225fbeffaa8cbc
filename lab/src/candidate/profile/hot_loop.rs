//! Finds the loop in which a kernel executes most of its instructions.

use kiln::backend::sim::LaunchProfile;
use kiln_exchange::profiles::HotLoop;

use super::executed;
use super::worst::line_of;
use crate::candidate::loops::{self, Loop};

/// The hot loop of a launch; `None` if no loop executed an instruction.
pub(super) fn find(launch: &LaunchProfile) -> Option<HotLoop> {
    let executed = &launch.counters.executed;
    let loops = entered(launch);
    let hot = loops::hottest(&loops, |range| executed[range.clone()].iter().sum())?;
    let (first, last) = (*hot.start(), *hot.end());
    let executed = executed::sum(launch, first..last + 1);
    (executed.warp_instructions > 0).then(|| HotLoop {
        first,
        last,
        line: line_of(&launch.instructions[last]),
        inner_loops: loops::inner(&loops, hot),
        share_percent: 100.0 * executed.warp_instructions as f64
            / launch.counters.instructions.max(1) as f64,
        executed,
    })
}

/// All loops that the launch entered.
fn entered(launch: &LaunchProfile) -> Vec<Loop> {
    let branches = launch.instructions.iter().enumerate();
    let taken = branches.filter(|(i, _)| launch.counters.executed[*i] > 0);
    loops::of_branches(taken.filter_map(|(i, branch)| Some((i, branch.target?))))
}
