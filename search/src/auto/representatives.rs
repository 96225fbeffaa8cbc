//! Selects the results from which a model learns, if there are too many.

/// Returns the indices of at most `most` values: the lowest `most / 2` values, and values that are evenly spaced by
/// rank among the others.
pub(super) fn representatives(values: &[f64], most: usize) -> Vec<usize> {
    let mut ranked: Vec<usize> = (0..values.len()).collect();
    if values.len() <= most {
        return ranked;
    }
    ranked.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let lower = most / 2;
    let step = (ranked.len() - lower).div_ceil(most - lower).max(1);
    let mut chosen = ranked[..lower].to_vec();
    chosen.extend(ranked[lower..].iter().step_by(step));
    chosen
}
