//! The constants of the model-based search, by name, so that their effect can be studied by replay.

use thiserror::Error;

/// The constants. None of them depends on a kernel or a device; docs/search.md has the study behind each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Configs spread over the space before anything is learned.
    pub first: f64,
    /// Weight of the logarithm in the position of a value between a parameter's smallest and largest; the rest is rank.
    pub log_share: f64,
    /// Prior mean and standard deviation of the logarithm of a feature's inverse length scale.
    pub scale_mean: f64,
    /// See `scale_mean`.
    pub scale_sd: f64,
    /// Prior mean and standard deviation of the logit of the share of a feature's effect that fades with distance.
    pub share_mean: f64,
    /// See `share_mean`.
    pub share_sd: f64,
    /// The prior mean of that logit for how often 2 divides a value.
    pub twos_mean: f64,
    /// Prior mean of the share of variance that no feature explains.
    pub noise: f64,
    /// The same for the model of failures.
    pub failure_noise: f64,
    /// Costs count as no higher than the median and this many times the distance from the best to it, in logarithms.
    pub clip: f64,
    /// Steps of each fit of the features' scales.
    pub steps: f64,
    /// The scales are fitted again when the number of results has grown by this factor.
    pub growth: f64,
    /// Results that a fit uses.
    pub fitted: f64,
    /// Configs of a space of which all are candidates; in a larger one there are fewer.
    pub whole: f64,
    /// Candidates in a larger space.
    pub candidates: f64,
    /// Prior mean of the logarithm of the weight of an earlier result's trend.
    pub trend_mean: f64,
    /// Share of the first configs that are the best of an earlier result.
    pub recalled: f64,
    /// One config in this many is the next best of an earlier result, while these prove good.
    pub recall_every: f64,
    /// Configs spread over the space after those of an earlier result, to check whether it applies.
    pub contrast: f64,
    /// The weight of the prior for an earlier result, in results.
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

/// No constant has that name, or the value is not a number.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "no setting `{text}`\nhelp: write NAME=NUMBER; the names and what they mean are in docs/search.md"
)]
pub struct UnknownSetting {
    /// The text as written.
    pub text: String,
}

impl Settings {
    /// Changes the constant named in `NAME=NUMBER`.
    ///
    /// # Errors
    /// [`UnknownSetting`].
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
