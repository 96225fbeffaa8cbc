//! Fits a [`Shape`] to results. It approaches the mode of the posterior by resilient propagation (Rprop).

use super::covariance::Covariance;
use super::factor::dot;
use super::feature::{Encoder, FeaturePoint};
use super::settings::Settings;
use super::shape::Shape;

/// The weight of the prior that standardised values have a variance of 1, as a number of results.
pub(crate) const VARIANCE_WEIGHT: f64 = 2.0;

/// The first step by which each of the shape's numbers changes.
const FIRST_STEP: f64 = 0.3;
/// The longest step by which one of these numbers changes.
const LONGEST_STEP: f64 = 1.0;

/// Improves `start` for standardised values at some points. Returns the best shape that was found, so the result is
/// never worse than `start`. The fit ends early at a shape whose posterior density cannot be computed.
pub(crate) fn improve(
    encoder: &Encoder,
    start: &Shape,
    prior: &Shape,
    points: &[&FeaturePoint],
    values: &[f64],
    settings: &Settings,
) -> Shape {
    let deviations = prior.deviations(settings);
    let mut shape = start.clone();
    let mut best = (f64::INFINITY, start.clone());
    let mut steps = vec![FIRST_STEP; deviations.len()];
    let mut last = vec![0.0_f64; deviations.len()];
    for _ in 0..settings.steps as usize {
        let Some((badness, gradient)) =
            badness(encoder, &shape, prior, &deviations, points, values)
        else {
            break;
        };
        if badness < best.0 {
            best = (badness, shape.clone());
        }
        let mut numbers = shape.numbers();
        for (k, slope) in gradient.iter().enumerate() {
            let turn = slope * last[k];
            if turn > 0.0 {
                steps[k] = (steps[k] * 1.2).min(LONGEST_STEP);
            } else if turn < 0.0 {
                steps[k] *= 0.5;
            }
            last[k] = *slope;
            numbers[k] -= slope.signum() * steps[k];
        }
        shape = shape.with_numbers(&numbers);
    }
    best.1
}

/// Minus the logarithm of the posterior density of a shape, up to a constant, and its gradient. The variance of the
/// process is not a free parameter: its optimum is used. `None` if the density cannot be computed.
fn badness(
    encoder: &Encoder,
    shape: &Shape,
    prior: &Shape,
    deviations: &[f64],
    points: &[&FeaturePoint],
    values: &[f64],
) -> Option<(f64, Vec<f64>)> {
    let covariance = Covariance::new(encoder, shape);
    let factor = covariance.factor(points, covariance.noise)?;
    let reduced = factor.solve(values);
    let weight = values.len() as f64 + VARIANCE_WEIGHT;
    let variance = (dot(&reduced, &reduced) + VARIANCE_WEIGHT) / weight;
    let mut badness = weight / 2.0 * variance.ln() + factor.half_log_determinant();
    let alpha = factor.solve_transposed(&reduced);
    let inverse = factor.inverse();
    let mut gradient = vec![0.0; deviations.len()];
    let last = gradient.len() - 1;
    for (i, a) in points.iter().enumerate() {
        let slope = |j: usize| inverse[i][j] - alpha[i] * alpha[j] / variance;
        for (j, b) in points[..i].iter().enumerate() {
            covariance.add_gradient(a, b, covariance.product(a, b), slope(j), &mut gradient);
        }
        // On the diagonal the product is 1 for every shape, so its derivatives are 0.
        covariance.add_gradient(a, a, 0.0, slope(i) / 2.0, &mut gradient);
        gradient[last] += slope(i) / 2.0 * covariance.noise;
    }
    let numbers = shape.numbers().into_iter().zip(prior.numbers());
    for (k, (number, mean)) in numbers.enumerate() {
        let z = (number - mean) / deviations[k];
        badness += z * z / 2.0;
        gradient[k] += z / deviations[k];
    }
    badness.is_finite().then_some((badness, gradient))
}
