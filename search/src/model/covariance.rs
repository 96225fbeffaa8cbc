//! The covariance of the costs of two configs. It is a product of factors, one per feature, plus a term for the trends
//! of earlier searches. The factors are read from tables.
//!
//! A factor is `1 - share + share * matern(distance / length)`. With a share of 1, two configs that are far apart in
//! the feature are independent. With a share below 1, such configs remain correlated through the other features. The
//! product therefore models both the effects of single features and their interactions.

use super::factor::Factor;
use super::feature::{Encoder, FeaturePoint};
use super::shape::Shape;

/// The tables for one [`Shape`]: the factors, and the derivatives of the factors' logarithms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Covariance {
    features: Vec<DistanceTable>,
    trends: Vec<f64>,
    pub(crate) noise: f64,
}

/// The table of one feature: its factor for each pair of codes.
#[derive(Clone, Debug, Default)]
struct DistanceTable {
    len: usize,
    factors: Vec<f64>,
    rows: Vec<f32>,
    by_scale: Vec<f64>,
    by_share: Vec<f64>,
}

impl DistanceTable {
    fn push(&mut self, distance: f64, scale: f64, share: f64) {
        let (matern, by_scale) = matern(distance * scale);
        let factor = 1.0 - share + share * matern;
        self.factors.push(factor);
        self.rows.push(factor as f32);
        self.by_scale.push(share * by_scale / factor);
        self.by_share
            .push(share * (1.0 - share) * (matern - 1.0) / factor);
    }

    fn at(&self, a: u16, b: u16) -> usize {
        usize::from(a) * self.len + usize::from(b)
    }
}

/// The Matérn 5/2 correlation at a distance, and its derivative by the logarithm of the distance.
fn matern(distance: f64) -> (f64, f64) {
    let q = 5.0_f64.sqrt() * distance;
    let fall = (-q).exp();
    let square = q * q / 3.0;
    ((1.0 + q + square) * fall, -square * (1.0 + q) * fall)
}

impl Covariance {
    pub(crate) fn new(encoder: &Encoder, shape: &Shape) -> Self {
        let numbers = shape.scales.iter().zip(&shape.shares);
        let table = |(feature, (scale, share)): (&super::feature::Feature, (&f64, &f64))| {
            let mut table = DistanceTable {
                len: feature.len,
                ..DistanceTable::default()
            };
            let (scale, share) = (scale.exp(), 1.0 / (1.0 + (-share).exp()));
            for &distance in &feature.distances {
                table.push(distance, scale, share);
            }
            table
        };
        Self {
            features: encoder.features.iter().zip(numbers).map(table).collect(),
            trends: shape.trends.iter().map(|weight| weight.exp()).collect(),
            noise: shape.noise.exp(),
        }
    }

    /// The product of the factors of all features.
    pub(crate) fn product(&self, a: &FeaturePoint, b: &FeaturePoint) -> f64 {
        let codes = self.features.iter().zip(a.codes.iter().zip(&b.codes));
        codes.fold(1.0, |product, (table, (&a, &b))| {
            product * table.factors[table.at(a, b)]
        })
    }

    /// The Cholesky factor of the covariance matrix of some points, with `noise` added to the diagonal. `None` if the
    /// matrix is not positive definite.
    pub(crate) fn factor(&self, points: &[&FeaturePoint], noise: f64) -> Option<Factor> {
        let mut factor = Factor::default();
        for (i, point) in points.iter().enumerate() {
            let row: Vec<f64> = points[..i]
                .iter()
                .map(|other| self.between(point, other))
                .collect();
            let variance = self.between(point, point) + noise;
            factor.push(&row, variance).then_some(())?;
        }
        Some(factor)
    }

    /// The covariance of two points, without noise.
    pub(crate) fn between(&self, a: &FeaturePoint, b: &FeaturePoint) -> f64 {
        self.product(a, b) + self.trend(a, b)
    }

    fn trend(&self, a: &FeaturePoint, b: &FeaturePoint) -> f64 {
        let values = self.trends.iter().zip(a.trends.iter().zip(&b.trends));
        values.map(|(weight, (a, b))| weight * a * b).sum()
    }

    /// Adds `weight` times the gradient of the covariance of two points with respect to the numbers of the shape.
    pub(crate) fn add_gradient(
        &self,
        a: &FeaturePoint,
        b: &FeaturePoint,
        product: f64,
        weight: f64,
        gradient: &mut [f64],
    ) {
        let (scales, rest) = gradient.split_at_mut(self.features.len());
        let (shares, trends) = rest.split_at_mut(self.features.len());
        let weighted = weight * product;
        for (feature, table) in self.features.iter().enumerate() {
            let at = table.at(a.codes[feature], b.codes[feature]);
            scales[feature] += weighted * table.by_scale[at];
            shares[feature] += weighted * table.by_share[at];
        }
        for (source, trend) in self.trends.iter().enumerate() {
            trends[source] += weight * trend * a.trends[source] * b.trends[source];
        }
    }

    /// Computes the covariances of a point with the candidates from `from` on. `codes` and `trends` hold one column per
    /// feature or trend.
    pub(crate) fn fill(
        &self,
        point: &FeaturePoint,
        codes: &[Vec<u16>],
        trends: &[Vec<f32>],
        from: usize,
        out: &mut [f32],
    ) {
        out.fill(1.0);
        for ((table, column), &code) in self.features.iter().zip(codes).zip(&point.codes) {
            let start = usize::from(code) * table.len;
            let row = &table.rows[start..start + table.len];
            for (out, &other) in out.iter_mut().zip(&column[from..]) {
                *out *= row[usize::from(other)];
            }
        }
        for ((weight, column), value) in self.trends.iter().zip(trends).zip(&point.trends) {
            let slope = (weight * value) as f32;
            for (out, other) in out.iter_mut().zip(&column[from..]) {
                *out += slope * other;
            }
        }
    }

    /// Computes the prior variances of the candidates from `from` on.
    pub(crate) fn fill_variance(&self, trends: &[Vec<f32>], from: usize, out: &mut [f32]) {
        out.fill(1.0);
        for (weight, column) in self.trends.iter().zip(trends) {
            for (out, value) in out.iter_mut().zip(&column[from..]) {
                *out += *weight as f32 * value * value;
            }
        }
    }
}
