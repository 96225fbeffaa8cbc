//! The trend of an earlier search: a value for every config of the space. If the earlier search did not try a config, a
//! model of its results predicts the value.

use std::collections::HashMap;

use super::representatives::representatives;
use super::warp;
use crate::model::{Encoder, Extension, FeaturePoint, Settings, Shape};
use crate::{Prior, SpaceView};

/// If an earlier search tried at least this share of the space, its results are used without a model of the rest.
const WHOLE: f64 = 0.9;

/// Maximum number of values of an earlier search from which its model learns.
const MAX_LEARNED: usize = 200;

/// A quantity (cost or failure) of the configs of an earlier search, minus its mean.
#[derive(Clone, Debug)]
pub(super) struct Trend {
    known: HashMap<usize, f64>,
    model: Option<Extension>,
}

impl Trend {
    /// The trend of the logarithm of the cost. Failed configs have the cost of the slowest valid config.
    pub(super) fn of_costs(
        prior: &Prior,
        space: &dyn SpaceView,
        encoder: &Encoder,
        settings: &Settings,
    ) -> Self {
        let ranking: Vec<(usize, f64)> = prior
            .ranked()
            .into_iter()
            .filter_map(|index| Some((index, prior.costs[&index]?.ln())))
            .collect();
        let limited = warp::costs(&ranking, settings.clip);
        let slowest = limited.last().map_or(0.0, |last| last.1);
        let mut values: HashMap<usize, f64> =
            prior.costs.keys().map(|&index| (index, slowest)).collect();
        values.extend(limited);
        Self::new(values, settings.noise, space, encoder, settings)
    }

    /// The trend of failures: 1 for a failed config, 0 for a valid one.
    pub(super) fn of_failures(
        prior: &Prior,
        space: &dyn SpaceView,
        encoder: &Encoder,
        settings: &Settings,
    ) -> Self {
        let failed =
            |(&index, cost): (&usize, &Option<f64>)| (index, f64::from(u8::from(cost.is_none())));
        let values = prior.costs.iter().map(failed).collect();
        Self::new(values, settings.failure_noise, space, encoder, settings)
    }

    fn new(
        mut known: HashMap<usize, f64>,
        noise: f64,
        space: &dyn SpaceView,
        encoder: &Encoder,
        settings: &Settings,
    ) -> Self {
        known.retain(|&index, _| index < space.len());
        let mean = known.values().sum::<f64>() / known.len().max(1) as f64;
        known.values_mut().for_each(|value| *value -= mean);
        let partial = (known.len() as f64) < WHOLE * space.len() as f64;
        let model = partial
            .then(|| model(&known, noise, space, encoder, settings))
            .flatten();
        Self { known, model }
    }

    /// The value for a config. It is 0 if the config was not tried and there is no model.
    pub(super) fn at(&self, index: usize, codes: &[u16]) -> f64 {
        let expected = || {
            self.model
                .as_ref()
                .map_or(0.0, |model| model.expected(codes))
        };
        self.known.get(&index).copied().unwrap_or_else(expected)
    }
}

/// Fits a model to values. `None` if all values are equal.
fn model(
    known: &HashMap<usize, f64>,
    noise: f64,
    space: &dyn SpaceView,
    encoder: &Encoder,
    settings: &Settings,
) -> Option<Extension> {
    // The configs are sorted, so that equal results always give an equal model.
    let mut indices: Vec<usize> = known.keys().copied().collect();
    indices.sort_unstable();
    let values: Vec<f64> = indices.iter().map(|index| known[index]).collect();
    let chosen = representatives(&values, MAX_LEARNED);
    let point = |&place: &usize| FeaturePoint {
        codes: encoder.encode(&space.positions(indices[place])),
        trends: Vec::new(),
    };
    let points: Vec<FeaturePoint> = chosen.iter().map(point).collect();
    let values: Vec<f64> = chosen.iter().map(|&place| values[place]).collect();
    let start = Shape::prior(encoder, 0, noise, settings);
    Extension::new(encoder, &start, points, &values, settings)
}

/// The variance, over some configs, of the mean of the trends.
pub(super) fn variance_of_mean(
    trends: &[Trend],
    sample: &[usize],
    space: &dyn SpaceView,
    encoder: &Encoder,
) -> f64 {
    if trends.is_empty() || sample.is_empty() {
        return 0.0;
    }
    let mean = |&index: &usize| {
        let codes = encoder.encode(&space.positions(index));
        trends
            .iter()
            .map(|trend| trend.at(index, &codes))
            .sum::<f64>()
            / trends.len() as f64
    };
    let means: Vec<f64> = sample.iter().map(mean).collect();
    let centre = means.iter().sum::<f64>() / means.len() as f64;
    let squares = means.iter().map(|mean| (mean - centre).powi(2));
    squares.sum::<f64>() / means.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Landscape;

    fn trend(costs: &[(usize, Option<f64>)], space: &Landscape) -> (Trend, Encoder) {
        let settings = Settings::default();
        let encoder = Encoder::new(space, &settings);
        let prior = Prior {
            costs: costs.iter().copied().collect(),
        };
        (Trend::of_costs(&prior, space, &encoder, &settings), encoder)
    }

    #[test]
    fn an_earlier_result_that_knows_all_is_taken_as_it_is() {
        let space = Landscape::line(4);
        let all = [(0, Some(1.0)), (1, Some(2.0)), (2, None), (3, Some(4.0))];
        let (trend, encoder) = trend(&all, &space);
        let at = |index: usize| trend.at(index, &encoder.encode(&space.positions(index)));
        assert!(trend.model.is_none());
        assert!((0..4).map(at).sum::<f64>().abs() < 1e-12);
        assert!(at(2) >= at(3) && at(3) > at(1) && at(1) > at(0));
    }

    #[test]
    fn configs_between_known_ones_are_expected_to_cost_what_lies_between() {
        let space = Landscape::line(64);
        let known: Vec<(usize, Option<f64>)> = (0..64)
            .step_by(6)
            .map(|index| (index, Some(1.0 + index as f64 / 64.0)))
            .collect();
        let (trend, encoder) = trend(&known, &space);
        let at = |index: usize| trend.at(index, &encoder.encode(&space.positions(index)));
        for index in (3..60).step_by(6) {
            assert!(
                at(index - 3) < at(index) && at(index) < at(index + 3),
                "{index}"
            );
        }
    }

    #[test]
    fn an_earlier_result_without_a_difference_says_nothing() {
        let space = Landscape::line(64);
        let (trend, encoder) = trend(&[(3, Some(1.0)), (9, Some(1.0))], &space);
        assert!(trend.at(40, &encoder.encode(&space.positions(40))).abs() < 1e-12);
        let (trend, encoder) = self::trend(&[(700, Some(f64::NAN)), (9, None)], &space);
        assert!(trend.at(40, &encoder.encode(&space.positions(40))).abs() < 1e-12);
    }
}
