//! A guess at what untried configs cost: a Gaussian process over the configs tried.
//!
//! Covariance falls off exponentially with distance, each parameter with a scale of its own, fitted to the data: a
//! parameter that does not matter is stretched away. The exponential (rough) covariance did better on recorded
//! spaces than smooth ones: kernels have cliffs.

use super::cholesky::{Cholesky, dot};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A config as the surrogate sees it: each parameter's value between 0 and 1.
pub type Point = Vec<f64>;

/// Configs whose likelihood is tried when the scales are fitted.
const MOST_FITTED: usize = 120;

/// Bounds of a parameter's scale.
const SCALES: (f64, f64) = (0.02, 30.0);

/// Bounds of the share of variance that is noise.
const NOISES: (f64, f64) = (1e-4, 0.5);

/// Standard deviation of the logarithm of a scale before any data are seen.
const SCALE_PRIOR: f64 = 2.0;

/// What the surrogate thinks of a config.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guess {
    /// Expected value.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
}

/// The process's free parameters.
#[derive(Clone, Debug)]
struct Shape {
    scales: Vec<f64>,
    noise: f64,
}

impl Shape {
    fn covariance(&self, a: &[f64], b: &[f64]) -> f64 {
        let offsets = self.scales.iter().zip(a.iter().zip(b));
        (-offsets
            .map(|(scale, (a, b))| scale * (a - b).abs())
            .sum::<f64>())
        .exp()
    }

    fn factor(&self, points: &[Point]) -> Option<Cholesky> {
        Cholesky::factor(points.len(), |i, j| {
            let noise = if i == j { self.noise } else { 0.0 };
            self.covariance(&points[i], &points[j]) + noise
        })
    }

    /// Minus the log posterior of the shape, up to a constant, with the variance at its best.
    fn badness(&self, points: &[Point], values: &[f64]) -> f64 {
        let Some(factor) = self.factor(points) else {
            return f64::INFINITY;
        };
        let residual = factor.solve(values);
        let n = values.len() as f64;
        let variance = (dot(&residual, &residual) / n).max(1e-12);
        let prior: f64 = self
            .scales
            .iter()
            .map(|scale| (scale.ln() / SCALE_PRIOR).powi(2) / 2.0)
            .sum();
        n / 2.0 * variance.ln() + factor.half_log_determinant() + prior
    }

    /// A shape with one parameter moved by a factor of 2.5 either way.
    fn varied(&self, rng: &mut ChaCha8Rng) -> Self {
        let mut shape = self.clone();
        let factor = if rng.random::<bool>() { 2.5 } else { 0.4 };
        let which = rng.random_range(0..=shape.scales.len());
        match shape.scales.get_mut(which) {
            Some(scale) => *scale = (*scale * factor).clamp(SCALES.0, SCALES.1),
            None => shape.noise = (shape.noise * factor).clamp(NOISES.0, NOISES.1),
        }
        shape
    }
}

/// The process, fitted to some configs.
#[derive(Clone, Debug)]
pub struct Surrogate {
    shape: Shape,
    points: Vec<Point>,
    factor: Cholesky,
    reduced: Vec<f64>,
    mean: f64,
    unit: f64,
    spread: f64,
}

impl Surrogate {
    /// A surrogate that has seen nothing.
    pub fn new(params: usize) -> Self {
        Self {
            shape: Shape {
                scales: vec![1.0; params],
                noise: 0.02,
            },
            points: Vec::new(),
            factor: Cholesky::default(),
            reduced: Vec::new(),
            mean: 0.0,
            unit: 1.0,
            spread: 1.0,
        }
    }

    /// Takes in points with their values, at least one, in place of what was seen before; tries `tries` other scales
    /// first. Keeps what it had if the matrix cannot be factored.
    pub fn fit(&mut self, points: Vec<Point>, values: &[f64], tries: u32, rng: &mut ChaCha8Rng) {
        let n = values.len() as f64;
        self.mean = values.iter().sum::<f64>() / n;
        let variance = values
            .iter()
            .map(|value| (value - self.mean).powi(2))
            .sum::<f64>()
            / n;
        self.unit = variance.sqrt().max(1e-6);
        let scaled: Vec<f64> = values
            .iter()
            .map(|value| (value - self.mean) / self.unit)
            .collect();
        if tries > 0 {
            self.reshape(&points, &scaled, tries, rng);
        }
        if let Some(factor) = self.shape.factor(&points) {
            self.reduced = factor.solve(&scaled);
            self.spread = self.unit * (dot(&self.reduced, &self.reduced) / n).sqrt().max(1e-4);
            self.factor = factor;
            self.points = points;
        }
    }

    /// Random coordinate descent on the shape, over the lower half of the values and an even spread of the others.
    fn reshape(&mut self, points: &[Point], values: &[f64], tries: u32, rng: &mut ChaCha8Rng) {
        let mut ranked: Vec<usize> = (0..points.len()).collect();
        ranked.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let lower = ranked.len().min(MOST_FITTED / 2);
        let step = (ranked.len() - lower).div_ceil(MOST_FITTED - lower).max(1);
        let chosen = ranked[..lower]
            .iter()
            .chain(ranked[lower..].iter().step_by(step));
        let (points, values): (Vec<Point>, Vec<f64>) =
            chosen.map(|&i| (points[i].clone(), values[i])).unzip();
        let mut best = self.shape.badness(&points, &values);
        for _ in 0..tries {
            let shape = self.shape.varied(rng);
            let badness = shape.badness(&points, &values);
            if badness < best {
                best = badness;
                self.shape = shape;
            }
        }
    }

    /// How alike two points are, from 0 to 1.
    pub fn likeness(&self, a: &[f64], b: &[f64]) -> f64 {
        self.shape.covariance(a, b)
    }

    /// A point's covariances with what was seen, reduced: what [`guess`](Self::guess) needs.
    pub fn reduce(&self, point: &[f64]) -> Vec<f64> {
        let covariances: Vec<f64> = self
            .points
            .iter()
            .map(|seen| self.likeness(point, seen))
            .collect();
        self.factor.solve(&covariances)
    }

    /// What is thought of a point, given what [`reduce`](Self::reduce) made of it.
    pub fn guess(&self, reduced: &[f64]) -> Guess {
        let variance = (1.0 - dot(reduced, reduced)).max(1e-9);
        Guess {
            mean: self.mean + self.unit * dot(reduced, &self.reduced),
            sd: self.spread * variance.sqrt(),
        }
    }

    /// What to append to the reduced form of `other` once `chosen` is going to be tried; each side is a point with
    /// its reduced form. Believing `chosen` to cost what is expected of it changes no mean, it only takes doubt away.
    pub fn believe(&self, chosen: (&[f64], &[f64]), other: (&[f64], &[f64])) -> f64 {
        let pivot = (1.0 + self.shape.noise - dot(chosen.1, chosen.1))
            .max(1e-8)
            .sqrt();
        (self.likeness(chosen.0, other.0) - dot(chosen.1, other.1)) / pivot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn fitted(tries: u32) -> (Surrogate, ChaCha8Rng) {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let points: Vec<Point> = (0..64)
            .map(|i| vec![f64::from(i % 8) / 7.0, f64::from(i / 8) / 7.0])
            .collect();
        let values: Vec<f64> = points.iter().map(|point| 3.0 * point[0]).collect();
        let mut surrogate = Surrogate::new(2);
        surrogate.fit(points, &values, tries, &mut rng);
        (surrogate, rng)
    }

    #[test]
    fn what_was_seen_is_guessed_right() {
        let (surrogate, _) = fitted(40);
        let guess = surrogate.guess(&surrogate.reduce(&[4.0 / 7.0, 1.0]));
        assert!((guess.mean - 12.0 / 7.0).abs() < 0.1, "{guess:?}");
    }

    #[test]
    fn a_parameter_that_does_not_matter_gets_the_smaller_scale() {
        let (surrogate, _) = fitted(40);
        let scales = &surrogate.shape.scales;
        assert!(scales[1] < scales[0] / 2.0, "{scales:?}");
    }

    #[test]
    fn doubt_grows_with_the_distance() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut surrogate = Surrogate::new(1);
        surrogate.fit(vec![vec![0.0], vec![0.1]], &[1.0, 2.0], 0, &mut rng);
        let sd = |x: f64| surrogate.guess(&surrogate.reduce(&[x])).sd;
        assert!(sd(0.05) < sd(0.4) && sd(0.4) < sd(1.0));
    }

    #[test]
    fn choosing_a_point_takes_doubt_from_its_neighbours() {
        let (surrogate, _) = fitted(0);
        let (chosen, near, far) = (vec![0.5, 0.5], vec![0.52, 0.5], vec![0.0, 1.0]);
        let reduced = surrogate.reduce(&chosen);
        let loss = |other: &Point| {
            let mut after = surrogate.reduce(other);
            let before = surrogate.guess(&after);
            after.push(surrogate.believe((&chosen, &reduced), (other, &after)));
            let guess = surrogate.guess(&after);
            assert_eq!(guess.mean, before.mean);
            1.0 - guess.sd / before.sd
        };
        assert!(loss(&near) > 10.0 * loss(&far) && loss(&far) >= 0.0);
    }
}
