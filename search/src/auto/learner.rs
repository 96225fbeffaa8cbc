//! Predicts one quantity of the untried configs from the results: either the costs or the failures.

use std::collections::HashMap;

use super::representatives::representatives;
use super::trend::Trend;
use crate::model::{Candidates, Encoder, FeaturePoint, Process, Settings, Shape, improve};
use crate::{SpaceView, Told};

/// The inputs of [`Learner::learn`] other than the values.
pub(super) struct SearchState<'a> {
    pub(super) space: &'a dyn SpaceView,
    pub(super) encoder: &'a Encoder,
    pub(super) results: &'a [Told],
    /// The indices of the candidates. Until the next call of [`Learner::forget`], candidates may only be added at the
    /// end.
    pub(super) pool: &'a [usize],
    pub(super) settings: &'a Settings,
    /// Whether to fit the scales of the process (its [`Shape`]) before it learns the values.
    pub(super) fit: bool,
}

/// A Gaussian process and the results that it has learned. It starts from the *trend* of each earlier search (see
/// `auto/trend.rs`), which is a value for every config.
pub(super) struct Learner {
    prior: Shape,
    shape: Shape,
    /// The slope of the values as a function of the trends, from 0 to 1.
    slope: f64,
    /// The variance, over the space, of the mean of the trends.
    trend_variance: f64,
    process: Process,
    candidates: Candidates,
    /// The mean of the trends for each candidate.
    bases: Vec<f64>,
    /// The trend of each earlier search.
    trends: Vec<Trend>,
    /// The trends for the configs with known results. The key is the index of the config.
    remembered: HashMap<usize, Vec<f64>>,
    /// The results that the process has learned, by their positions in the list of results.
    taken: Vec<usize>,
}

/// The predictions for all candidates.
pub(super) struct Lesson {
    means: Vec<f32>,
    bases: Vec<f64>,
    centre: f64,
    scale: f64,
    spread: f64,
}

/// Values whose standard deviation is below this are treated as equal.
const FLAT: f64 = 1e-6;

impl Learner {
    pub(super) fn new(
        encoder: &Encoder,
        trends: Vec<Trend>,
        trend_variance: f64,
        noise: f64,
        settings: &Settings,
    ) -> Self {
        let prior = Shape::prior(encoder, trends.len(), noise, settings);
        Self {
            process: Process::new(encoder, &prior),
            shape: prior.clone(),
            slope: 1.0,
            trend_variance,
            prior,
            candidates: Candidates::default(),
            bases: Vec::new(),
            trends,
            remembered: HashMap::new(),
            taken: Vec::new(),
        }
    }

    /// The number of results that the process has learned.
    pub(super) fn len(&self) -> usize {
        self.process.len()
    }

    /// Removes results and candidates, but keeps the scales of the process.
    pub(super) fn forget(&mut self) {
        self.process.clear();
        self.candidates = Candidates::default();
        self.bases.clear();
        self.taken.clear();
    }

    /// Learns values, each with the position of its result. Returns the predictions for all candidates.
    pub(super) fn learn(&mut self, values: &[(usize, f64)], state: &SearchState<'_>) -> Lesson {
        self.remember(values, state);
        self.slope = self.slope_of(values, state);
        let (centre, scale, units) = self.units(values, state);
        if state.fit && scale > FLAT {
            self.fit(values, &units, state);
        }
        for &index in &state.pool[self.bases.len()..] {
            let point = self.point(index, state);
            self.candidates.push(&point);
            self.bases.push(mean(&point.trends));
        }
        let places: HashMap<usize, f64> = values.iter().map(|value| value.0).zip(units).collect();
        self.taken.retain(|slot| places.contains_key(slot));
        if self.taken.len() < self.process.len() {
            self.process.clear();
            self.taken.clear();
        }
        let known: std::collections::HashSet<usize> = self.taken.iter().copied().collect();
        let mut fresh: Vec<usize> = places
            .keys()
            .copied()
            .filter(|slot| !known.contains(slot))
            .collect();
        fresh.sort_unstable();
        let points: Vec<FeaturePoint> = fresh
            .iter()
            .map(|&slot| self.point(state.results[slot].index, state))
            .collect();
        self.taken.extend(fresh);
        self.process.extend(&points, &self.candidates);
        let ordered: Vec<f64> = self.taken.iter().map(|slot| places[slot]).collect();
        let (means, spread) = self.process.means(&ordered);
        Lesson {
            means,
            bases: self.bases.iter().map(|base| self.slope * base).collect(),
            centre,
            scale,
            spread,
        }
    }

    /// Fits the scales of the process to representative values.
    fn fit(&mut self, values: &[(usize, f64)], units: &[f64], state: &SearchState<'_>) {
        let chosen = representatives(units, state.settings.fitted as usize);
        let point = |&k: &usize| self.point(state.results[values[k].0].index, state);
        let points: Vec<FeaturePoint> = chosen.iter().map(point).collect();
        let points: Vec<&FeaturePoint> = points.iter().collect();
        let units: Vec<f64> = chosen.iter().map(|&k| units[k]).collect();
        self.shape = improve(
            state.encoder,
            &self.shape,
            &self.prior,
            &points,
            &units,
            state.settings,
        );
        self.process = Process::new(state.encoder, &self.shape);
        self.taken.clear();
    }

    /// Subtracts the values that the trends predict. Returns the centre and the scale (standard deviation) of the
    /// differences, and the standardised differences.
    fn units(&self, values: &[(usize, f64)], state: &SearchState<'_>) -> (f64, f64, Vec<f64>) {
        let expected = |slot: usize| self.slope * self.remembered_mean(state.results[slot].index);
        let residuals: Vec<f64> = values
            .iter()
            .map(|&(slot, value)| value - expected(slot))
            .collect();
        let (centre, scale) = centre_and_scale(&residuals);
        (
            centre,
            scale,
            residuals
                .iter()
                .map(|value| (value - centre) / scale)
                .collect(),
        )
    }

    /// The slope of the values as a function of the mean of the trends, found by regression. The prior slope is 1 and
    /// has the weight of [`Settings::trust`] results.
    fn slope_of(&self, values: &[(usize, f64)], state: &SearchState<'_>) -> f64 {
        if self.trends.is_empty() {
            return 0.0;
        }
        let trends: Vec<f64> = values
            .iter()
            .map(|value| self.remembered_mean(state.results[value.0].index))
            .collect();
        let count = values.len().max(1) as f64;
        let mean_trend = trends.iter().sum::<f64>() / count;
        let mean = values.iter().map(|value| value.1).sum::<f64>() / count;
        let held = state.settings.trust * self.trend_variance;
        let (mut rise, mut run) = (held, held);
        for (trend, value) in trends.iter().zip(values) {
            rise += (trend - mean_trend) * (value.1 - mean);
            run += (trend - mean_trend).powi(2);
        }
        if run > 0.0 {
            (rise / run).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// Whether the earlier searches explain little of the values.
    pub(super) fn doubts(&self) -> bool {
        const MIN_SLOPE: f64 = 0.3;
        self.slope < MIN_SLOPE
    }

    /// Assumes that the result of a config will equal its predicted value. This reduces the variances of similar
    /// candidates, and does not change any prediction.
    pub(super) fn suppose(&mut self, index: usize, state: &SearchState<'_>) {
        let point = self.point(index, state);
        self.process.extend(&[point], &self.candidates);
    }

    /// Keeps only the first `len` results. This removes the assumptions that [`suppose`](Self::suppose) added.
    pub(super) fn truncate(&mut self, len: usize) {
        self.process.truncate(len);
    }

    /// The posterior variance of each candidate.
    pub(super) fn variances(&self) -> &[f32] {
        self.process.variances()
    }

    /// Stores the trends for the configs of some results, because a trend is slow to compute for a config that the
    /// earlier search did not try.
    fn remember(&mut self, values: &[(usize, f64)], state: &SearchState<'_>) {
        if self.trends.is_empty() {
            return;
        }
        for &(slot, _) in values {
            let index = state.results[slot].index;
            if !self.remembered.contains_key(&index) {
                let trends = self.point(index, state).trends;
                self.remembered.insert(index, trends);
            }
        }
    }

    fn remembered_mean(&self, index: usize) -> f64 {
        self.remembered
            .get(&index)
            .map_or(0.0, |trends| mean(trends))
    }

    fn point(&self, index: usize, state: &SearchState<'_>) -> FeaturePoint {
        let codes = state.encoder.encode(&state.space.positions(index));
        let trends = match self.remembered.get(&index) {
            Some(trends) => trends.clone(),
            None => self
                .trends
                .iter()
                .map(|trend| trend.at(index, &codes))
                .collect(),
        };
        FeaturePoint { codes, trends }
    }
}

/// The mean; 0 if there are no values.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

impl Lesson {
    /// Whether all values are equal, so there is nothing to learn.
    pub(super) fn is_flat(&self) -> bool {
        self.scale <= FLAT
    }

    /// The predicted value of a candidate, in units of the values' scale and relative to their centre.
    pub(super) fn mean(&self, place: usize) -> f64 {
        f64::from(self.means[place]) + self.bases[place] / self.scale
    }

    /// The predicted value of a candidate.
    pub(super) fn value(&self, place: usize) -> f64 {
        self.mean(place) * self.scale + self.centre
    }

    /// Standardises a value: its distance from the centre, in units of the scale.
    pub(super) fn unit(&self, value: f64) -> f64 {
        (value - self.centre) / self.scale
    }

    /// The scale: the standard deviation of the differences between the values and the predictions of the trends.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// The standard deviation of the process, in units of the scale.
    pub(super) fn spread(&self) -> f64 {
        self.spread
    }
}

fn centre_and_scale(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let centre = values.iter().sum::<f64>() / count;
    let variance = values
        .iter()
        .map(|value| (value - centre).powi(2))
        .sum::<f64>()
        / count;
    (centre, variance.sqrt().max(FLAT))
}
