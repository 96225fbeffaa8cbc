//! Selects up to four configs from the corners of a search space, where resources are most likely to run out.

use kiln_spec::Config;
use kiln_spec::space::SearchSpace;

/// Returns the valid configs nearest to four corners of the space, without duplicates. In a corner, all parameters with
/// an even index have their first value, or all have their last value; the same choice is made separately for the
/// parameters with an odd index. If the space has more than 100,000 configs, only every n-th config is considered.
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

/// The distance between two configs. Each axis contributes its difference in thousandths of the axis length, so all
/// axes have the same weight.
fn distance(at: &[usize], corner: &[usize], last: &[usize]) -> usize {
    let axes = at.iter().zip(corner).zip(last);
    axes.map(|((at, corner), last)| at.abs_diff(*corner) * 1000 / (*last).max(1))
        .sum()
}
