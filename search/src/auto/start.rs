//! The configs that are tried before the models are used.

use crate::ledger::TrialLedger;
use crate::model::Encoder;
use crate::{Prior, SpaceView};

/// Number of random configs from which the first configs are chosen.
const SAMPLE: usize = 2_000;

/// Returns the first `n` configs to try, in order: the best configs of the earlier searches, or configs that are far
/// apart if there are no earlier searches.
pub(super) fn first(
    space: &dyn SpaceView,
    encoder: &Encoder,
    ledger: &TrialLedger,
    priors: &[&Prior],
    n: usize,
) -> Vec<usize> {
    if priors.is_empty() {
        spread(space, encoder, &ledger.sample(SAMPLE), n)
    } else {
        recalled(priors, n)
    }
}

/// The best configs of all earlier searches: first the best of each search, then the second best of each, and so on.
fn recalled(priors: &[&Prior], n: usize) -> Vec<usize> {
    let ranked: Vec<Vec<usize>> = priors.iter().map(|prior| prior.ranked()).collect();
    let mut recalled = Vec::new();
    for place in 0..n {
        for ranking in &ranked {
            if let Some(index) = ranking
                .get(place)
                .filter(|index| !recalled.contains(*index))
            {
                recalled.push(*index);
            }
        }
    }
    recalled.truncate(n);
    recalled
}

/// Chooses `n` configs of a sample that are far apart. Each next config is the one that is farthest from all previously
/// chosen ones.
fn spread(space: &dyn SpaceView, encoder: &Encoder, sample: &[usize], n: usize) -> Vec<usize> {
    let codes: Vec<Vec<u16>> = sample
        .iter()
        .map(|&index| encoder.encode(&space.positions(index)))
        .collect();
    let mut nearest = vec![f64::INFINITY; sample.len()];
    let mut chosen = Vec::new();
    while chosen.len() < n.min(sample.len()) {
        let farthest =
            (0..sample.len()).max_by(|&a, &b| nearest[a].total_cmp(&nearest[b]).then(b.cmp(&a)));
        let Some(next) = farthest else {
            break;
        };
        chosen.push(sample[next]);
        for (nearest, other) in nearest.iter_mut().zip(&codes) {
            *nearest = nearest.min(encoder.distance(&codes[next], other));
        }
        nearest[next] = f64::NEG_INFINITY;
    }
    chosen
}
