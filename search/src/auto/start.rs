//! The configs that are tried before the model learns.

use crate::ledger::TrialLedger;
use crate::model::Encoder;
use crate::{Prior, SpaceView};

/// Random configs that the first ones are chosen from.
const SAMPLE: usize = 2_000;

/// The first configs in order: the best `n` of earlier results if there are any, else `n` that are far apart.
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

/// The best configs of earlier results, in turn.
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

/// Configs of a sample that are far apart: each is the one farthest from all before it.
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
