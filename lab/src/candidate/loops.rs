//! Loops of machine code: the instructions from the target of a backward branch to that branch.

use std::ops::RangeInclusive;

/// An inner loop is the hot one if it has at least this share of the weight of the loop around it.
const MIN_SHARE: f64 = 0.5;

/// The loop's instructions, by index.
pub(super) type Loop = RangeInclusive<usize>;

/// All loops of these branches, each from an instruction to its target. Several backward branches to one instruction
/// are one loop. The branches must be in the order of the code.
pub(super) fn of_branches(branches: impl Iterator<Item = (usize, usize)>) -> Vec<Loop> {
    let mut loops: Vec<Loop> = Vec::new();
    for (last, first) in branches.filter(|(from, to)| to <= from) {
        match loops.iter_mut().find(|known| *known.start() == first) {
            Some(known) => *known = first..=last,
            None => loops.push(first..=last),
        }
    }
    loops
}

/// The innermost loop that holds most of the weight; `None` without a loop.
pub(super) fn hottest(loops: &[Loop], weight: impl Fn(&Loop) -> u64) -> Option<&Loop> {
    // Of nested loops the outer one weighs at least as much, so the heaviest is an outermost one.
    let mut hot = loops.iter().max_by_key(|range| weight(range))?;
    while let Some(inner) = loops
        .iter()
        .filter(|inner| is_inside(inner, hot))
        .max_by_key(|range| weight(range))
        && weight(inner) as f64 >= MIN_SHARE * weight(hot) as f64
    {
        hot = inner;
    }
    Some(hot)
}

/// The number of loops inside a loop.
pub(super) fn inner(loops: &[Loop], outer: &Loop) -> usize {
    loops.iter().filter(|inner| is_inside(inner, outer)).count()
}

fn is_inside(inner: &Loop, outer: &Loop) -> bool {
    inner != outer && inner.start() >= outer.start() && inner.end() <= outer.end()
}
