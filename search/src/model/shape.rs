//! The free parameters of a covariance, which a fit determines.

use super::feature::Encoder;
use super::settings::Settings;

/// The free parameters of a covariance. Each is transformed so that it may be any real number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    /// For each feature, the logarithm of its inverse length scale.
    pub(crate) scales: Vec<f64>,
    /// For each feature, the logit of its share: the part of its effect that decreases with the distance.
    pub(crate) shares: Vec<f64>,
    /// For each earlier search, the logarithm of the weight of its trend.
    pub(crate) trends: Vec<f64>,
    /// The logarithm of the variance of the noise.
    pub(crate) noise: f64,
}

impl Shape {
    /// The prior mean of all parameters.
    pub(crate) fn prior(encoder: &Encoder, trends: usize, noise: f64, settings: &Settings) -> Self {
        Self {
            scales: vec![settings.scale_mean; encoder.features.len()],
            shares: encoder
                .features
                .iter()
                .map(|feature| feature.share_mean)
                .collect(),
            trends: vec![settings.trend_mean; trends],
            noise: noise.ln(),
        }
    }

    /// The prior standard deviations, in the order of [`numbers`](Self::numbers).
    pub(crate) fn deviations(&self, settings: &Settings) -> Vec<f64> {
        const TREND: f64 = 1.5;
        const NOISE: f64 = 1.5;
        let mut deviations = vec![settings.scale_sd; self.scales.len()];
        deviations.extend(vec![settings.share_sd; self.shares.len()]);
        deviations.extend(vec![TREND; self.trends.len()]);
        deviations.push(NOISE);
        deviations
    }

    /// All parameters as one vector.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        let parts = [&self.scales[..], &self.shares, &self.trends, &[self.noise]];
        parts.concat()
    }

    /// The inverse of [`numbers`](Self::numbers).
    pub(crate) fn with_numbers(&self, numbers: &[f64]) -> Self {
        let (scales, rest) = numbers.split_at(self.scales.len());
        let (shares, rest) = rest.split_at(self.shares.len());
        let (trends, noise) = rest.split_at(self.trends.len());
        Self {
            scales: scales.to_vec(),
            shares: shares.to_vec(),
            trends: trends.to_vec(),
            noise: noise[0],
        }
    }
}
