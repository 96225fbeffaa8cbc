//! A Gaussian process that updates its posterior for a set of candidates with each new result.

use super::covariance::Covariance;
use super::factor::{Factor, dot};
use super::feature::{Encoder, FeaturePoint};
use super::fit::VARIANCE_WEIGHT;
use super::shape::Shape;

/// The candidates, stored as one column per feature and one per trend.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidates {
    codes: Vec<Vec<u16>>,
    trends: Vec<Vec<f32>>,
    len: usize,
}

impl Candidates {
    pub(crate) fn push(&mut self, point: &FeaturePoint) {
        self.codes.resize(point.codes.len(), Vec::new());
        self.trends.resize(point.trends.len(), Vec::new());
        for (column, &code) in self.codes.iter_mut().zip(&point.codes) {
            column.push(code);
        }
        for (column, &trend) in self.trends.iter_mut().zip(&point.trends) {
            column.push(trend as f32);
        }
        self.len += 1;
    }
}

/// Number of candidates that are updated together, chosen so that the values of all rows for these candidates fit the
/// second-level cache.
const CHUNK: usize = 512;

/// A Gaussian process with its results and its posterior for the candidates.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    covariance: Covariance,
    points: Vec<FeaturePoint>,
    factor: Factor,
    /// The rows of L⁻¹K, where L is the Cholesky factor and K contains the covariances of the points (rows) with the
    /// candidates (columns).
    rows: Vec<Vec<f32>>,
    /// The posterior variance of each candidate.
    variances: Vec<f32>,
}

impl Process {
    pub(crate) fn new(encoder: &Encoder, shape: &Shape) -> Self {
        Self {
            covariance: Covariance::new(encoder, shape),
            points: Vec::new(),
            factor: Factor::default(),
            rows: Vec::new(),
            variances: Vec::new(),
        }
    }

    /// The number of points, which are the configs of the learned results.
    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    /// Adds points, and the candidates that were added to `candidates` since the last call.
    pub(crate) fn extend(&mut self, points: &[FeaturePoint], candidates: &Candidates) {
        let (old_points, old_candidates) = (self.points.len(), self.variances.len());
        for point in points {
            self.push(point);
        }
        self.rows.resize(self.points.len(), Vec::new());
        for row in &mut self.rows {
            row.resize(candidates.len, 0.0);
        }
        self.variances.resize(candidates.len, 0.0);
        let fresh = &mut self.variances[old_candidates..];
        self.covariance
            .fill_variance(&candidates.trends, old_candidates, fresh);
        for from in (0..old_candidates).step_by(CHUNK) {
            self.work(
                candidates,
                old_points,
                from,
                (from + CHUNK).min(old_candidates),
            );
        }
        for from in (old_candidates..candidates.len).step_by(CHUNK) {
            self.work(candidates, 0, from, (from + CHUNK).min(candidates.len));
        }
    }

    fn push(&mut self, point: &FeaturePoint) {
        let row: Vec<f64> = self
            .points
            .iter()
            .map(|other| self.covariance.between(point, other))
            .collect();
        let mut variance = self.covariance.between(point, point) + self.covariance.noise;
        // If the point would make the matrix not positive definite, the point's noise is increased until it no longer
        // does.
        const MAX_TRIES: u32 = 60;
        for _ in 0..MAX_TRIES {
            if self.factor.push(&row, variance) {
                self.points.push(point.clone());
                return;
            }
            variance = variance * 1.5 + 1e-6;
        }
    }

    /// Updates the candidates `from..to` for the points from `first` on.
    fn work(&mut self, candidates: &Candidates, first: usize, from: usize, to: usize) {
        for i in first..self.points.len() {
            let (done, rest) = self.rows.split_at_mut(i);
            let out = &mut rest[0][from..to];
            let point = &self.points[i];
            self.covariance
                .fill(point, &candidates.codes, &candidates.trends, from, out);
            let weights = self.factor.row(i);
            for (row, &weight) in done.iter().zip(weights) {
                let weight = weight as f32;
                for (out, value) in out.iter_mut().zip(&row[from..to]) {
                    *out -= weight * value;
                }
            }
            let scale = 1.0 / weights[i] as f32;
            for (out, variance) in out.iter_mut().zip(&mut self.variances[from..to]) {
                *out *= scale;
                *variance -= *out * *out;
            }
        }
    }

    /// Removes all points and candidates.
    pub(crate) fn clear(&mut self) {
        self.truncate(0);
        self.variances.clear();
    }

    /// Removes the points from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        for row in self.rows.drain(len.min(self.points.len())..) {
            for (variance, value) in self.variances.iter_mut().zip(&row) {
                *variance += value * value;
            }
        }
        self.points.truncate(len);
        self.factor.truncate(len);
    }

    /// The posterior variance of each candidate, relative to the variance of the values.
    pub(crate) fn variances(&self) -> &[f32] {
        &self.variances
    }

    /// The mean of each candidate given the values of the points, and the standard deviation of the process.
    pub(crate) fn means(&self, values: &[f64]) -> (Vec<f32>, f64) {
        let reduced = self
            .factor
            .solve(&values[..values.len().min(self.points.len())]);
        let mut means = vec![0.0_f32; self.variances.len()];
        for (row, &weight) in self.rows.iter().zip(&reduced) {
            let weight = weight as f32;
            for (mean, value) in means.iter_mut().zip(row) {
                *mean += weight * value;
            }
        }
        let weight = reduced.len() as f64 + VARIANCE_WEIGHT;
        let variance = (dot(&reduced, &reduced) + VARIANCE_WEIGHT) / weight;
        (means, variance.sqrt())
    }
}
