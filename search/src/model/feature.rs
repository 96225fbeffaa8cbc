//! The features of a config. A feature maps each value of a parameter to a code and defines the distances between
//! codes.

use super::settings::Settings;
use crate::SpaceView;

/// A config, as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FeaturePoint {
    /// The code of each feature.
    pub(crate) codes: Vec<u16>,
    /// For each earlier search, the value of its trend for the config; 0 if it is unknown.
    pub(crate) trends: Vec<f64>,
}

/// A feature: one way to compare the values of a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Feature {
    param: usize,
    codes: Vec<u16>,
    /// The number of distinct codes.
    pub(crate) len: usize,
    /// The distance between each pair of codes, from 0 to 1, as a square matrix stored row by row.
    pub(crate) distances: Vec<f64>,
    /// Prior mean of the logit of the feature's share (see `model/covariance.rs`).
    pub(crate) share_mean: f64,
}

/// Maximum number of distinct codes of a feature. If a parameter has more values, several values share a code.
const MAX_CODES: usize = 256;

/// All features of a space, which map a config to a [`FeaturePoint`].
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    pub(crate) features: Vec<Feature>,
}

impl Encoder {
    /// Creates the features of every parameter that has at least two values. The first feature is the position of the
    /// value. Integers also have a feature that counts how often 2 divides the value, because powers of two decide
    /// whether data fits a warp, a cache line or a bank.
    pub(crate) fn new(space: &dyn SpaceView, settings: &Settings) -> Self {
        let mut features = Vec::new();
        for (param, &count) in space
            .value_counts()
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 1)
        {
            if !space.is_ordinal(param) {
                features.push(Feature::choice(param, count as usize, settings.share_mean));
                continue;
            }
            let values: Vec<f64> = (0..count)
                .map(|position| space.value(param, position))
                .collect();
            let places = places(&values, settings.log_share);
            features.push(Feature::line(param, &places, settings.share_mean));
            if let Some(twos) = twos(&values) {
                features.push(Feature::line(param, &twos, settings.twos_mean));
            }
        }
        Self { features }
    }

    /// The codes of a config, which is a vector of positions.
    pub(crate) fn encode(&self, positions: &[u32]) -> Vec<u16> {
        let code = |feature: &Feature| feature.codes[positions[feature.param] as usize];
        self.features.iter().map(code).collect()
    }

    /// The distance with which configs are spread over the space: the sum, over all features, of the squared distance,
    /// plus 0.1 for each feature in which the codes differ.
    pub(crate) fn distance(&self, a: &[u16], b: &[u16]) -> f64 {
        const DIFFERENT: f64 = 0.1;
        let codes = self.features.iter().zip(a.iter().zip(b));
        codes
            .map(|(feature, (&a, &b))| {
                let distance = feature.distances[usize::from(a) * feature.len + usize::from(b)];
                distance * distance + if a == b { 0.0 } else { DIFFERENT }
            })
            .sum()
    }
}

impl Feature {
    /// The feature of ordered values. `places` are their positions, from 0 to 1.
    fn line(param: usize, places: &[f64], share_mean: f64) -> Self {
        let mut levels = places.to_vec();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        if levels.len() > MAX_CODES {
            let last = (MAX_CODES - 1) as f64;
            levels = (0..MAX_CODES).map(|level| level as f64 / last).collect();
        }
        let nearest = |place: &f64| {
            let above = levels
                .partition_point(|level| level < place)
                .min(levels.len() - 1);
            let below = above.saturating_sub(1);
            let nearer = if place - levels[below] < levels[above] - place {
                below
            } else {
                above
            };
            u16::try_from(nearer).unwrap_or(u16::MAX)
        };
        let len = levels.len();
        let distance = |pair: usize| (levels[pair / len] - levels[pair % len]).abs();
        Self {
            param,
            codes: places.iter().map(nearest).collect(),
            len,
            distances: (0..len * len).map(distance).collect(),
            share_mean,
        }
    }

    /// The feature of values that have no order: two values are either equal or different.
    fn choice(param: usize, count: usize, share_mean: f64) -> Self {
        let len = count.min(MAX_CODES);
        let different = |pair: usize| f64::from(u8::from(pair / len != pair % len));
        Self {
            param,
            codes: (0..count)
                .map(|value| u16::try_from(value % len).unwrap_or(u16::MAX))
                .collect(),
            len,
            distances: (0..len * len).map(different).collect(),
            share_mean,
        }
    }
}

/// The position of each value between the smallest (0) and the largest (1). It is a weighted mean of the position by
/// rank and the position by logarithm; `log_share` is the weight of the logarithm.
fn places(values: &[f64], log_share: f64) -> Vec<f64> {
    let last = (values.len() - 1) as f64;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let share = if low > 0.0 && high > low && high.is_finite() {
        log_share
    } else {
        0.0
    };
    let place = |(rank, value): (usize, &f64)| {
        let log = if share > 0.0 {
            (value / low).ln() / (high / low).ln()
        } else {
            0.0
        };
        (1.0 - share) * rank as f64 / last + share * log
    };
    values.iter().enumerate().map(place).collect()
}

/// How often 2 divides each value, scaled to numbers from 0 to 1. `None` if a value is not an integer, if 2 divides all
/// values equally often, or if these numbers have the same order as the values, so they would add nothing to the
/// position.
fn twos(values: &[f64]) -> Option<Vec<f64>> {
    const LARGEST: f64 = 9e15;
    if values
        .iter()
        .any(|value| value.fract() != 0.0 || value.abs() > LARGEST)
    {
        return None;
    }
    let count = |value: &f64| {
        if *value == 0.0 {
            0
        } else {
            (value.abs() as u64).trailing_zeros()
        }
    };
    let twos: Vec<u32> = values.iter().map(count).collect();
    let (low, high) = (*twos.iter().min()?, *twos.iter().max()?);
    if low == high || twos.is_sorted_by(|a, b| a < b) {
        return None;
    }
    let place = |&twos: &u32| f64::from(twos - low) / f64::from(high - low);
    Some(twos.iter().map(place).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_stand_out_among_multiples() {
        let twos = twos(&[16.0, 32.0, 48.0, 64.0]).unwrap();
        assert_eq!(twos, [0.0, 0.5, 0.0, 1.0]);
    }

    #[test]
    fn powers_of_two_alone_say_no_more_than_their_rank() {
        assert_eq!(twos(&[1.0, 2.0, 4.0, 8.0]), None);
        assert_eq!(twos(&[0.5, 2.0]), None);
    }

    #[test]
    fn places_run_from_0_to_1() {
        assert_eq!(places(&[1.0, 4.0, 16.0], 0.5), [0.0, 0.5, 1.0]);
        assert_eq!(places(&[0.0, 3.0, 4.0], 0.5), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn a_parameter_of_many_values_has_a_bounded_table() {
        let places: Vec<f64> = (0..5_000).map(|value| f64::from(value) / 4_999.0).collect();
        let feature = Feature::line(0, &places, 0.0);
        assert_eq!(
            (feature.len, feature.codes[0], feature.codes[4_999]),
            (256, 0, 255)
        );
    }
}
