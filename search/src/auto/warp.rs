//! Prepares costs for the model: takes their logarithms and limits them, so differences between slow configs do not
//! dominate the fit.

/// Limits the logarithms of ranked costs. The limit is the median plus `clip` times the difference between the median
/// and the best.
pub(super) fn costs(ranking: &[(usize, f64)], clip: f64) -> Vec<(usize, f64)> {
    let Some(&(_, best)) = ranking.first() else {
        return Vec::new();
    };
    let median = ranking[ranking.len() / 2].1;
    let limit = median + clip * (median - best);
    ranking
        .iter()
        .map(|&(place, value)| (place, value.min(limit)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_costs_are_limited_and_keep_their_order() {
        let ranking = [(4, 0.0), (2, 1.0), (7, 2.0), (1, 3.0), (0, 9.0)];
        assert_eq!(
            costs(&ranking, 1.0),
            [(4, 0.0), (2, 1.0), (7, 2.0), (1, 3.0), (0, 4.0)]
        );
        assert!(costs(&[], 1.0).is_empty());
    }
}
