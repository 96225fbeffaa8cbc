//! The default.

use super::model::correlation::{Distances, Shape};
use super::model::fit;
use super::model::knob;
use super::model::linear::dot;
use super::model::process::{Candidates, Process};
use super::permutation::Permutation;
use super::space::SpaceView;
use super::{Strategy, Told};
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, HashSet};

pub struct Auto<'a> {
    space: &'a dyn SpaceView,
    order: Permutation,
    place: usize,
    asked: HashSet<usize>,
    results: Vec<Told>,
    slots: HashMap<usize, usize>,
    candidates: Candidates,
    indices: Vec<usize>,
    place_of: HashMap<usize, usize>,
    costs: Process,
    failures: Process,
    prior: Shape,
    fitted_at: usize,
    first: Vec<usize>,
}

impl<'a> Auto<'a> {
    pub fn new(space: &'a dyn SpaceView, mut rng: ChaCha8Rng) -> Self {
        let order = Permutation::new(space.len(), &mut rng);
        let distances = Distances::new(space);
        let prior = distances.prior();
        let mut fprior = prior.clone();
        fprior.noise = knob("FN", 0.01).ln();
        let most = knob("MOST", 20000.0) as usize;
        let indices: Vec<usize> = (0..space.len().min(most)).filter_map(|place| if space.len() <= most { Some(place) } else { order.at(place) }).collect();
        let mut candidates = Candidates::default();
        for &index in &indices {
            let positions = distances.encode(&space.positions(index));
            candidates.push(&positions);
        }
        let mut auto = Self {
            space,
            place: 0,
            asked: HashSet::new(),
            results: Vec::new(),
            slots: HashMap::new(),
            place_of: indices.iter().enumerate().map(|(a, &b)| (b, a)).collect(),
            costs: Process::new(distances.clone(), prior.clone()),
            failures: Process::new(distances, fprior),
            candidates,
            indices,
            prior,
            fitted_at: 0,
            first: Vec::new(),
            order,
        };
        auto.first = auto.start(knob("FIRST", 12.0) as usize);
        auto.first.reverse();
        auto
    }

    fn point(&self, index: usize) -> Vec<u16> {
        self.costs.distances.encode(&self.space.positions(index))
    }

    /// Maximin among random ones.
    fn start(&self, n: usize) -> Vec<usize> {
        let pool: Vec<usize> = (0..(knob("POOL", 2000.0) as usize).min(self.space.len())).filter_map(|p| self.order.at(p)).collect();
        let points: Vec<Vec<u16>> = pool.iter().map(|&i| self.point(i)).collect();
        let mut chosen = Vec::new();
        let mut nearest = vec![f64::INFINITY; pool.len()];
        let mut next = 0;
        while chosen.len() < n.min(pool.len()) {
            chosen.push(pool[next]);
            nearest[next] = -1.0;
            for k in 0..pool.len() {
                if nearest[k] >= 0.0 {
                    let d: f64 = self.costs.distances.tables.iter().enumerate().map(|(p, (count, t))| {
                        let d = t[points[k][p] as usize * count + points[next][p] as usize];
                        d * d + 0.1 * f64::from(u8::from(d > 0.0))
                    }).sum();
                    nearest[k] = nearest[k].min(d);
                }
            }
            next = (0..pool.len()).max_by(|&a, &b| nearest[a].total_cmp(&nearest[b])).unwrap_or(0);
        }
        chosen
    }

    fn strays(&mut self, n: usize) -> Vec<usize> {
        let mut strays = Vec::new();
        while strays.len() < n {
            let next = match self.first.pop() {
                Some(index) => index,
                None => {
                    let Some(index) = self.order.at(self.place) else { break };
                    self.place += 1;
                    index
                }
            };
            if self.asked.insert(next) {
                strays.push(next);
            }
        }
        strays
    }

    fn targets(&self) -> (Vec<Vec<u16>>, Vec<f64>) {
        let mut points = Vec::new();
        let mut values = Vec::new();
        for told in &self.results {
            if let Some(cost) = told.cost {
                points.push(self.point(told.index));
                values.push(cost.ln());
            }
        }
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        if let (Some(&best), median) = (sorted.first(), sorted[sorted.len() / 2]) {
            let c = knob("CLIP", 1.0);
            for v in &mut values {
                let limit = median + c * (median - best);
                *v = v.min(limit);
            }
        }
        (points, values)
    }
}

impl Strategy for Auto<'_> {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn ask(&mut self, n: usize) -> Vec<usize> {
        let worked = self.results.iter().filter(|t| t.cost.is_some()).count();
        if self.asked.len() < knob("FIRST", 12.0) as usize || worked < 4 {
            return self.strays(n);
        }
        let (points, values) = self.targets();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let sd = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt().max(1e-6);
        let scaled: Vec<f64> = values.iter().map(|v| (v - mean) / sd).collect();
        let all: Vec<Vec<u16>> = self.results.iter().map(|t| self.point(t.index)).collect();
        let labels: Vec<f64> = self.results.iter().map(|t| if t.cost.is_some() { 0.0 } else { 1.0 }).collect();
        let any_failed = labels.iter().any(|&l| l > 0.0);
        let total = self.results.len();
        if self.fitted_at == 0 || total as f64 >= self.fitted_at as f64 * knob("GROW", 1.2) {
            let steps = knob("STEPS", 25.0) as usize;
            self.fitted_at = total;
            let views: Vec<&[u16]> = points.iter().map(|p| &p[..]).collect();
            let shape = fit::improve(&self.costs.distances, &self.costs.shape, &self.prior, &views, &scaled, steps);
            if std::env::var("SHOW").is_ok() { eprintln!("{total} {:?}", shape); }
            self.costs.reshape(shape);
            if any_failed {
                let mut fprior = self.prior.clone();
                fprior.noise = knob("FN", 0.01).ln();
                let views: Vec<&[u16]> = all.iter().map(|p| &p[..]).collect();
                let centred = standard(&labels);
                let shape = fit::improve(&self.costs.distances, &self.failures.shape, &fprior, &views, &centred, steps);
                self.failures.reshape(shape);
            }
        }
        if points.len() < self.costs.len() { self.costs.clear(); }
        let m = self.candidates.len;
        self.costs.extend(&points[self.costs.len()..], &self.candidates);
        let reduced = self.costs.reduce(&scaled);
        let means = self.costs.mean(&reduced, m);
        let a = knob("VA", 1.0);
        let spread = ((dot(&reduced, &reduced) + 2.0 * a) / (count + 2.0 * a)).sqrt();
        let mut chance = vec![0.0f64; m];
        if any_failed {
            self.failures.extend(&all[self.failures.len()..], &self.candidates);
            let share = labels.iter().sum::<f64>() / labels.len() as f64;
            let centred: Vec<f64> = labels.iter().map(|l| l - share).collect();
            let reduced = self.failures.reduce(&centred);
            let means = self.failures.mean(&reduced, m);
            let variances = self.failures.variance(m);
            let sd = (share * (1.0 - share)).sqrt();
            let fs = knob("FS", 1.0);
            for k in 0..m {
                let mu = f64::from(means[k]) + share;
                let s = (f64::from(variances[k].max(0.0)).sqrt() * sd).max(0.05) * fs;
                let z = (0.5 - mu) / s;
                let p = 1.0 / (1.0 + (-1.702 * z).exp());
                chance[k] = p.max(0.01).ln();
            }
        }
        let best = scaled.iter().copied().fold(f64::INFINITY, f64::min);
        let mut asked = Vec::new();
        let base = self.costs.len();
        let mut best_now = best;
        for _ in 0..n {
            let variances = self.costs.variance(m);
            let mut top = (f64::NEG_INFINITY, None);
            for k in 0..m {
                if self.asked.contains(&self.indices[k]) { continue; }
                let sd = f64::from(variances[k].max(1e-9)).sqrt() * spread;
                let value = log_improvement(f64::from(means[k]), sd, best_now) + chance[k];
                if value > top.0 { top = (value, Some(k)); }
            }
            let Some(k) = top.1 else { break };
            let index = self.indices[k];
            asked.push(index);
            self.asked.insert(index);
            if asked.len() < n {
                let point = self.point(index);
                self.costs.extend(&[point], &self.candidates);
                best_now = best_now.min(f64::from(means[k]));
            }
        }
        self.costs.truncate(base);
        asked.extend(self.strays(n - asked.len()));
        asked
    }

    fn tell(&mut self, told: &[Told]) {
        for &Told { index, cost } in told.iter().filter(|told| told.index < self.space.len()) {
            let cost = cost.filter(|cost| cost.is_finite() && *cost > 0.0);
            self.asked.insert(index);
            let slot = *self.slots.entry(index).or_insert(self.results.len());
            if slot < self.results.len() {
                self.results[slot].cost = cost;
                self.costs.clear();
                self.failures.clear();
            } else {
                self.results.push(Told { index, cost });
            }
        }
        let _ = &self.place_of;
    }
}

fn standard(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let sd = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt().max(1e-6);
    values.iter().map(|v| (v - mean) / sd).collect()
}

/// Logarithm of the improvement on `best` to be expected of a guess.
fn log_improvement(mean: f64, sd: f64, best: f64) -> f64 {
    let z = (best - mean) / sd;
    let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let below = 1.0 / (1.0 + (-1.702 * z).exp());
    sd.ln() + (z * below + density).max(1e-300).ln()
}
