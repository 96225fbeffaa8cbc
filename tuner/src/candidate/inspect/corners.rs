//! Four configs from the corners of a search space: where resources are most likely to run out.

use kiln_spec::Config;
use kiln_spec::space::SearchSpace;

/// The valid configs nearest to the corners at which even and odd parameters are each at their first or last value;
/// fewer where some are the same. Of a space too large to walk through, every so many configs are looked at.
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

/// How far apart two configs are, each axis counting alike: thousandths of its length, added up.
fn distance(at: &[usize], corner: &[usize], last: &[usize]) -> usize {
    let axes = at.iter().zip(corner).zip(last);
    axes.map(|((at, corner), last)| at.abs_diff(*corner) * 1000 / (*last).max(1))
        .sum()
}
