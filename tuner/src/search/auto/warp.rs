//! Costs as the model sees them: logarithms, in which slow configs count as no slower than a limit, so that the model's
//! attention stays with the fast ones.

use crate::search::Prior;

/// Logarithms of costs with a limit, from the ranked ones; each with the place it came with.
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

/// For each earlier result what it says of every config: the logarithm of its cost less the mean; failures count as the
/// slowest.
pub(super) fn cost_trends(priors: &[&Prior], clip: f64) -> Vec<Vec<f64>> {
    priors.iter().map(|prior| cost_trend(prior, clip)).collect()
}

fn cost_trend(prior: &Prior, clip: f64) -> Vec<f64> {
    let valid = |cost: &Option<Option<f64>>| {
        cost.flatten()
            .filter(|cost| cost.is_finite() && *cost > 0.0)
    };
    let mut ranking: Vec<(usize, f64)> = prior
        .costs
        .iter()
        .enumerate()
        .filter_map(|(index, cost)| Some((index, valid(cost)?.ln())))
        .collect();
    ranking.sort_by(|a, b| a.1.total_cmp(&b.1));
    let limited = costs(&ranking, clip);
    let slowest = limited.last().map_or(0.0, |last| last.1);
    let mut trend: Vec<Option<f64>> = prior
        .costs
        .iter()
        .map(|cost| cost.map(|_| slowest))
        .collect();
    for (index, value) in limited {
        trend[index] = Some(value);
    }
    centred(&trend)
}

/// For each earlier result whether every config failed in it, less the mean.
pub(super) fn failure_trends(priors: &[&Prior]) -> Vec<Vec<f64>> {
    let failed = |cost: &Option<Option<f64>>| cost.map(|cost| f64::from(u8::from(cost.is_none())));
    priors
        .iter()
        .map(|prior| centred(&prior.costs.iter().map(failed).collect::<Vec<_>>()))
        .collect()
}

/// Values less their mean; 0 where there is none.
fn centred(values: &[Option<f64>]) -> Vec<f64> {
    let known = values.iter().flatten();
    let mean = known.clone().sum::<f64>() / known.count().max(1) as f64;
    values
        .iter()
        .map(|value| value.map_or(0.0, |value| value - mean))
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

    #[test]
    fn an_earlier_result_says_nothing_of_configs_it_lacks() {
        let prior = Prior {
            costs: vec![Some(Some(1.0)), None, Some(None), Some(Some(f64::NAN))],
        };
        let trend = cost_trend(&prior, 1.0);
        assert!(trend[1] == 0.0 && trend.iter().sum::<f64>().abs() < 1e-12);
    }
}
