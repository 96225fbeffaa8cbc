//! Finds loops in machine code. A loop is the instructions from the target of a backward branch to that branch.

use std::ops::RangeInclusive;

/// An inner loop is hotter than the loop around it if it has at least this share of that loop's weight.
const MIN_SHARE: f64 = 0.5;

/// A loop, as the range of its instruction indices.
pub(super) type Loop = RangeInclusive<usize>;

/// Returns all loops that these branches form. A branch is a pair: its own index and the index of its target. The
/// branches must be sorted by their own index. Several backward branches to one instruction form one loop. A branch to
/// itself does not count as a loop, because NVIDIA's compiler puts such a branch behind the end of each kernel.
pub(super) fn of_branches(branches: impl Iterator<Item = (usize, usize)>) -> Vec<Loop> {
    let mut loops: Vec<Loop> = Vec::new();
    for (last, first) in branches.filter(|(from, to)| to < from) {
        match loops.iter_mut().find(|known| *known.start() == first) {
            Some(known) => *known = first..=last,
            None => loops.push(first..=last),
        }
    }
    loops
}

/// Returns the hot loop; `None` if there is no loop. The search starts with the heaviest loop. It descends into the
/// heaviest loop inside the current loop, as long as that inner loop has at least `MIN_SHARE` of the current loop's
/// weight.
pub(super) fn hottest(loops: &[Loop], weight: impl Fn(&Loop) -> u64) -> Option<&Loop> {
    // An outer loop weighs at least as much as the loops inside it, so the heaviest loop is an outermost one.
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

/// The number of loops inside `outer`.
pub(super) fn inner(loops: &[Loop], outer: &Loop) -> usize {
    loops.iter().filter(|inner| is_inside(inner, outer)).count()
}

fn is_inside(inner: &Loop, outer: &Loop) -> bool {
    inner != outer && inner.start() >= outer.start() && inner.end() <= outer.end()
}
