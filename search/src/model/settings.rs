//! The named constants of the model-based search. `tune replay --set` changes them to study their effect.

use thiserror::Error;

/// The constants of the model-based search. None of them depends on a kernel or a device. docs/search.md shows the
/// effect of changing some of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Number of configs that are spread over the space and tried before the models are used.
    pub first: f64,
    /// Weight of the logarithm, from 0 to 1, in the position of a value between a parameter's smallest and largest
    /// value. This position is a weighted mean of the position by logarithm and the position by rank.
    pub log_share: f64,
    /// Prior mean of the logarithm of a feature's inverse length scale.
    pub scale_mean: f64,
    /// Prior standard deviation of the logarithm of a feature's inverse length scale.
    pub scale_sd: f64,
    /// Prior mean of the logit of a feature's share: the part of its effect that decreases with the distance.
    pub share_mean: f64,
    /// Prior standard deviation of the logit of a feature's share.
    pub share_sd: f64,
    /// Prior mean of the logit of the share for the features that count how often 2 divides a value.
    pub twos_mean: f64,
    /// Prior mean of the noise of costs: the share of the variance that no feature explains.
    pub noise: f64,
    /// Prior mean of the noise of failures.
    pub failure_noise: f64,
    /// Limit of costs. The logarithm of a cost is limited to the median plus this many times the difference between the
    /// median and the best.
    pub clip: f64,
    /// Number of steps of each fit of the length scales, shares, noise and trend weights (together, the scales).
    pub steps: f64,
    /// The scales are fitted again when the number of results has grown by this factor, or by 64.
    pub growth: f64,
    /// Maximum number of results that a fit of the scales uses.
    pub fitted: f64,
    /// Maximum size of a space in which all configs are candidates.
    pub whole: f64,
    /// Number of candidates in a larger space.
    pub candidates: f64,
    /// Prior mean of the logarithm of the weight of an earlier search's trend.
    pub trend_mean: f64,
    /// Number of configs that are tried first if there are results of earlier searches ([`Prior`](crate::Prior)). They
    /// are the best configs of these searches.
    pub recalled: f64,
    /// At the beginning, one in this many choices is the next best config of an earlier search, unless that search does
    /// not explain the measured costs and its best configs are not good. 0 disables this.
    pub recall_every: f64,
    /// Number of configs that are spread over the space and tried after those of an earlier search, to check whether
    /// the results of that search apply.
    pub contrast: f64,
    /// Weight, as a number of results, of the prior assumption that the costs follow those of an earlier search with a
    /// slope of 1.
    pub trust: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            first: 12.0,
            log_share: 0.5,
            scale_mean: 0.0,
            scale_sd: 1.0,
            share_mean: 0.0,
            share_sd: 1.5,
            twos_mean: -1.0,
            noise: 1e-3,
            failure_noise: 1e-2,
            clip: 1.0,
            steps: 12.0,
            growth: 1.2,
            fitted: 80.0,
            whole: 20_000.0,
            candidates: 2_000.0,
            trend_mean: 0.0,
            recalled: 8.0,
            recall_every: 3.0,
            contrast: 4.0,
            trust: 8.0,
        }
    }
}

/// There is no constant with this name, or the value is not a finite number.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "no setting `{text}`\nhelp: write NAME=NUMBER; the names are the fields of `Settings` in search/src/model/settings.rs"
)]
pub struct UnknownSetting {
    /// The rejected text.
    pub text: String,
}

impl Settings {
    /// Changes a constant. `text` is `NAME=NUMBER`.
    ///
    /// # Errors
    /// [`UnknownSetting`] if there is no such constant, or the number is not finite.
    pub fn set(&mut self, text: &str) -> Result<(), UnknownSetting> {
        let unknown = || UnknownSetting {
            text: text.to_owned(),
        };
        let (name, value) = text.split_once('=').ok_or_else(unknown)?;
        let value = value.parse().ok().filter(|value: &f64| value.is_finite());
        *self.named(name).ok_or_else(unknown)? = value.ok_or_else(unknown)?;
        Ok(())
    }

    fn named(&mut self, name: &str) -> Option<&mut f64> {
        Some(match name {
            "first" => &mut self.first,
            "log_share" => &mut self.log_share,
            "scale_mean" => &mut self.scale_mean,
            "scale_sd" => &mut self.scale_sd,
            "share_mean" => &mut self.share_mean,
            "share_sd" => &mut self.share_sd,
            "twos_mean" => &mut self.twos_mean,
            "noise" => &mut self.noise,
            "failure_noise" => &mut self.failure_noise,
            "clip" => &mut self.clip,
            "steps" => &mut self.steps,
            "growth" => &mut self.growth,
            "fitted" => &mut self.fitted,
            "whole" => &mut self.whole,
            "candidates" => &mut self.candidates,
            "trend_mean" => &mut self.trend_mean,
            "recall_every" => &mut self.recall_every,
            "trust" => &mut self.trust,
            "contrast" => &mut self.contrast,
            "recalled" => &mut self.recalled,
            _ => return None,
        })
    }
}
