//! Picks four configs from the corners of a search space, where resources are most likely to run out.

use kiln_spec::Config;
use kiln_spec::space::SearchSpace;

/// The valid configs nearest to the four corners at which the even parameters, and the odd ones, all have their first
/// or all their last value. Fewer if some of them coincide. If the space is too large to enumerate, only every n-th
/// config is considered.
pub fn corners(space: &SearchSpace) -> Vec<Config> {
    const MAX_CONFIGS: usize = 100_000;
    let last: Vec<usize> = space
        .axes()
        .iter()
        .map(|axis| axis.values.len() - 1)
        .collect();
    let step = space.len().div_ceil(MAX_CONFIGS);
    let mut found = Vec::new();
    for high in [[false, false], [true, true], [false, true], [true, false]] {
        let corner: Vec<usize> = last
            .iter()
            .enumerate()
            .map(|(axis, &last)| if high[axis % 2] { last } else { 0 })
            .collect();
        let nearest = (0..space.len())
            .step_by(step)
            .min_by_key(|&index| distance(&space.ordinals(index), &corner, &last));
        if let Some(index) = nearest
            && !found.contains(&index)
        {
            found.push(index);
        }
    }
    found.into_iter().map(|index| space.config(index)).collect()
}

/// The distance of two configs: per axis in thousandths of its length, added up, so that all axes count alike.
fn distance(at: &[usize], corner: &[usize], last: &[usize]) -> usize {
    let axes = at.iter().zip(corner).zip(last);
    axes.map(|((at, corner), last)| at.abs_diff(*corner) * 1000 / (*last).max(1))
        .sum()
}
