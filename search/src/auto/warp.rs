//! Costs for the model: logarithms with an upper limit for slow configs, so that the model's
//! attention stays with the fast ones.

/// Logarithms of costs with a limit, from the ranked ones; each with its index.
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
