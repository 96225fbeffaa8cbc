//! Fitting a shape to data: its posterior mode, by resilient propagation.

use super::correlation::{Distances, Shape, Tables};
use super::knob;
use super::linear::{Factor, dot};

/// Minus the log posterior of the shape, and its gradient.
pub(crate) fn badness(distances: &Distances, shape: &Shape, prior: &Shape, points: &[&[u16]], values: &[f64]) -> Option<(f64, Vec<f64>)> {
    let n = points.len();
    let tables = Tables::new(distances, shape);
    let noise = shape.noise.exp();
    let mut factor = Factor::default();
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
    for i in 0..n {
        let row: Vec<f64> = (0..i).map(|j| tables.correlation(points[i], points[j])).collect();
        if !factor.push(&row, 1.0 + noise) {
            return None;
        }
        rows.push(row);
    }
    let reduced = factor.solve(values);
    let total = n as f64;
    // The variance has a weak prior around 1.
    let a = knob("VA", 1.0);
    let variance = (dot(&reduced, &reduced) + 2.0 * a) / (total + 2.0 * a);
    let mut bad = (total / 2.0 + a) * variance.ln() + factor.half_log_determinant();
    let alpha = factor.solve_transposed(&reduced);
    let inverse = factor.inverse();
    let d = shape.scales.len();
    let mut gradient = vec![0.0; shape.len()];
    for i in 0..n {
        for j in 0..i {
            let g = (inverse[i][j] - alpha[i] * alpha[j] / variance) * rows[i][j];
            for p in 0..d {
                let at = points[i][p] as usize * tables.counts[p] + points[j][p] as usize;
                gradient[p] += g * tables.by_scale[p][at];
                gradient[d + p] += g * tables.by_share[p][at];
            }
        }
        gradient[2 * d] += 0.5 * (inverse[i][i] - alpha[i] * alpha[i] / variance) * noise;
    }
    let sds = [knob("SDS", 1.0), knob("SDR", 1.5), knob("SDN", 1.5)];
    for k in 0..shape.len() {
        let sd = if k < d { sds[0] } else if k < 2 * d { sds[1] } else { sds[2] };
        let z = (shape.get(k) - prior.get(k)) / sd;
        bad += z * z / 2.0;
        gradient[k] += z / sd;
    }
    bad.is_finite().then_some((bad, gradient))
}

/// Improves a shape in so many steps.
pub(crate) fn improve(distances: &Distances, start: &Shape, prior: &Shape, points: &[&[u16]], values: &[f64], steps: usize) -> Shape {
    let mut shape = start.clone();
    let mut best = (f64::INFINITY, start.clone());
    let mut step = vec![0.3; shape.len()];
    let mut last = vec![0.0; shape.len()];
    for _ in 0..steps {
        let Some((bad, gradient)) = badness(distances, &shape, prior, points, values) else { break };
        if bad < best.0 {
            best = (bad, shape.clone());
        }
        for k in 0..shape.len() {
            let sign: f64 = gradient[k] * last[k];
            if sign > 0.0 {
                step[k] = (step[k] * 1.2f64).min(1.0);
            } else if sign < 0.0 {
                step[k] *= 0.5;
            }
            last[k] = gradient[k];
            *shape.get_mut(k) -= gradient[k].signum() * step[k];
        }
    }
    best.1
}
