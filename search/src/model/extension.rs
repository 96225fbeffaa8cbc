//! A Gaussian process that is fitted once to some values and then predicts others.

use super::covariance::Covariance;
use super::factor::Factor;
use super::feature::{Encoder, FeaturePoint};
use super::fit::improve;
use super::settings::Settings;
use super::shape::Shape;

/// Values whose standard deviation is below this are treated as equal.
const FLAT: f64 = 1e-9;

/// The mean of a fitted process as a function of the config.
#[derive(Clone, Debug)]
pub(crate) struct Extension {
    covariance: Covariance,
    points: Vec<FeaturePoint>,
    weights: Vec<f64>,
    centre: f64,
}

impl Extension {
    /// Fits a process to values at some points. `None` if all values are equal, or if the matrix cannot be factored.
    pub(crate) fn new(
        encoder: &Encoder,
        start: &Shape,
        points: Vec<FeaturePoint>,
        values: &[f64],
        settings: &Settings,
    ) -> Option<Self> {
        let count = values.len().max(1) as f64;
        let centre = values.iter().sum::<f64>() / count;
        let variance = values
            .iter()
            .map(|value| (value - centre).powi(2))
            .sum::<f64>()
            / count;
        let scale = variance.sqrt();
        if !(scale > FLAT && scale.is_finite()) {
            return None;
        }
        let units: Vec<f64> = values
            .iter()
            .map(|value| (value - centre) / scale)
            .collect();
        let step = points
            .len()
            .div_ceil((settings.fitted as usize).max(1))
            .max(1);
        let fitted: Vec<&FeaturePoint> = points.iter().step_by(step).collect();
        let of_fitted: Vec<f64> = units.iter().copied().step_by(step).collect();
        let shape = improve(encoder, start, start, &fitted, &of_fitted, settings);
        let covariance = Covariance::new(encoder, &shape);
        let factor = factor(&covariance, &points)?;
        let weights = factor.solve_transposed(&factor.solve(&units));
        weights
            .iter()
            .all(|weight| weight.is_finite())
            .then(|| Self {
                covariance,
                points,
                weights: weights.iter().map(|weight| weight * scale).collect(),
                centre,
            })
    }

    /// The predicted value of a config.
    pub(crate) fn expected(&self, codes: &[u16]) -> f64 {
        let here = FeaturePoint {
            codes: codes.to_vec(),
            trends: Vec::new(),
        };
        let terms = self.points.iter().zip(&self.weights);
        let sum: f64 = terms
            .map(|(point, weight)| weight * self.covariance.between(point, &here))
            .sum();
        self.centre + sum
    }
}

/// The Cholesky factor of the covariance matrix of some points. Noise is added until the matrix can be factored.
/// `None` after eight attempts.
fn factor(covariance: &Covariance, points: &[FeaturePoint]) -> Option<Factor> {
    const TRIES: i32 = 8;
    let points: Vec<&FeaturePoint> = points.iter().collect();
    let noise = |attempt: i32| (covariance.noise + 1e-6) * 4.0_f64.powi(attempt);
    (0..TRIES).find_map(|attempt| covariance.factor(&points, noise(attempt)))
}
