//! The loop that a kernel spends its instructions in.

use std::ops::RangeInclusive;

use kiln::backend::sim::LaunchProfile;
use kiln_exchange::profiles::HotLoop;

use super::executed;
use super::worst::line_of;

/// An inner loop is the hot one if it executes at least this share of what the loop around it executes.
const MIN_SHARE: f64 = 0.5;

/// Finds it; `None` if no loop executed anything.
pub(super) fn find(launch: &LaunchProfile) -> Option<HotLoop> {
    let loops = loops(launch);
    let weight = |range: &RangeInclusive<usize>| -> u64 {
        launch.counters.executed[range.clone()].iter().sum()
    };
    // Of nested loops the outer one executes at least as much, so the heaviest is an outermost one.
    let mut hot = loops.iter().max_by_key(|range| weight(range))?;
    while let Some(inner) = loops
        .iter()
        .filter(|inner| is_inside(inner, hot))
        .max_by_key(|range| weight(range))
        && weight(inner) as f64 >= MIN_SHARE * weight(hot) as f64
    {
        hot = inner;
    }
    let (first, last) = (*hot.start(), *hot.end());
    let executed = executed::sum(launch, first..last + 1);
    (executed.warp_instructions > 0).then(|| HotLoop {
        first,
        last,
        line: line_of(&launch.instructions[last]),
        inner_loops: loops.iter().filter(|inner| is_inside(inner, hot)).count(),
        share_percent: 100.0 * executed.warp_instructions as f64
            / launch.counters.instructions.max(1) as f64,
        executed,
    })
}

/// All loops that were entered. Several backward branches to one instruction are one loop.
fn loops(launch: &LaunchProfile) -> Vec<RangeInclusive<usize>> {
    let mut loops: Vec<RangeInclusive<usize>> = Vec::new();
    for (i, instruction) in launch.instructions.iter().enumerate() {
        let backward = instruction.target.filter(|&target| target <= i);
        let Some(first) = backward.filter(|_| launch.counters.executed[i] > 0) else {
            continue;
        };
        match loops.iter_mut().find(|known| *known.start() == first) {
            Some(known) => *known = first..=i,
            None => loops.push(first..=i),
        }
    }
    loops
}

fn is_inside(inner: &RangeInclusive<usize>, outer: &RangeInclusive<usize>) -> bool {
    inner != outer && inner.start() >= outer.start() && inner.end() <= outer.end()
}
