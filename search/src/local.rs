//! Local search with restarts, its neighbours ordered by a learned guess.
//!
//! The elites (the best configs so far) are climbed from all at once: every neighbour of an elite is a
//! candidate, so are random walks of a few steps from an elite (a restart from good ground) and random configs
//! (a restart anywhere). Which of them to try first is up to a surrogate model: those that promise the most
//! improvement, weighed with the chance that they fail like those around them.
//!
//! Neighbours in plain random order, as in the textbook, do worse than random sampling on recorded spaces at budgets of
//! 200: a climb spends most of them on one hill.

use super::permutation::Permutation;
use super::space::{SpaceView, neighbours};
use super::strategy::{Strategy, Told};
use super::surrogate::{Guess, Point, Surrogate};
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, HashSet};

/// Random configs before anything is learned.
const FIRST: usize = 8;

/// Configs that must have worked before anything is learned.
const LEAST_VALID: usize = 4;

/// Configs that are climbed from.
const ELITES: usize = 3;

/// Candidates from walks of two or three steps from an elite.
const WALKS: usize = 100;

/// Random candidates.
const STRAYS: usize = 100;

/// Most results that are learned from: the best half and the latest.
const MOST_LEARNED: usize = 300;

/// New results after which the surrogate's scales are fitted again, and how many others are then tried.
const REFIT_AFTER: usize = 8;
const REFIT_TRIES: u32 = 30;

/// Weight of the belief that a config far from all others works.
const TRUST: f64 = 0.3;

/// Local search over a space.
pub struct Local<'a> {
    space: &'a dyn SpaceView,
    rng: ChaCha8Rng,
    order: Permutation,
    place: usize,
    asked: HashSet<usize>,
    /// Results in the order told; the latest of a config counts.
    results: Vec<Told>,
    slots: HashMap<usize, usize>,
    surrogate: Surrogate,
    fitted_at: usize,
}

/// A config that may be asked for.
struct Candidate {
    index: usize,
    point: Point,
    reduced: Vec<f64>,
    log_chance: f64,
}

impl<'a> Local<'a> {
    /// A local search of `space`.
    pub fn new(space: &'a dyn SpaceView, mut rng: ChaCha8Rng) -> Self {
        let order = Permutation::new(space.len(), &mut rng);
        let surrogate = Surrogate::new(space.value_counts().len());
        Self {
            space,
            rng,
            order,
            place: 0,
            asked: HashSet::new(),
            results: Vec::new(),
            slots: HashMap::new(),
            surrogate,
            fitted_at: 0,
        }
    }

    /// Random configs that were not asked for, at most `n`.
    fn strays(&mut self, n: usize) -> Vec<usize> {
        let mut strays = Vec::new();
        while strays.len() < n {
            let Some(index) = self.order.at(self.place) else {
                break;
            };
            self.place += 1;
            if self.asked.insert(index) {
                strays.push(index);
            }
        }
        strays
    }

    /// Log costs of the configs that worked, best first.
    fn ranking(&self) -> Vec<(usize, f64)> {
        let log_cost = |told: &Told| told.cost.map(|cost| (told.index, cost.ln()));
        let mut ranking: Vec<(usize, f64)> = self.results.iter().filter_map(log_cost).collect();
        ranking.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranking
    }

    fn point(&self, index: usize) -> Point {
        let positions = self.space.positions(index);
        let counts = self.space.value_counts();
        let share =
            |(&position, &count): (&u32, &u32)| f64::from(position) / f64::from(count.max(2) - 1);
        positions.iter().zip(counts).map(share).collect()
    }

    /// Learns from the results; very slow configs count as no slower than as far above the median as the best is
    /// below it, so that the model's attention stays with the fast ones.
    fn learn(&mut self, ranking: &[(usize, f64)]) -> Vec<Point> {
        let (best, median) = (ranking[0].1, ranking[ranking.len() / 2].1);
        let chosen: HashSet<usize> = self.learned(ranking);
        let seen = ranking.iter().filter(|(index, _)| chosen.contains(index));
        let (points, values): (Vec<Point>, Vec<f64>) = seen
            .map(|&(index, value)| (self.point(index), value.min(2.0 * median - best)))
            .unzip();
        let due = self.results.len() >= self.fitted_at + REFIT_AFTER || self.fitted_at == 0;
        if due {
            self.fitted_at = self.results.len();
        }
        let tries = if due { REFIT_TRIES } else { 0 };
        self.surrogate
            .fit(points.clone(), &values, tries, &mut self.rng);
        points
    }

    fn learned(&self, ranking: &[(usize, f64)]) -> HashSet<usize> {
        if ranking.len() <= MOST_LEARNED {
            return ranking.iter().map(|&(index, _)| index).collect();
        }
        let mut chosen: HashSet<usize> = ranking[..MOST_LEARNED / 2]
            .iter()
            .map(|&(index, _)| index)
            .collect();
        let latest = self.results.iter().rev().filter(|told| told.cost.is_some());
        for told in latest {
            if chosen.len() >= MOST_LEARNED {
                break;
            }
            chosen.insert(told.index);
        }
        chosen
    }

    /// Unasked configs worth a guess, none twice, in random order.
    fn pool(&mut self, ranking: &[(usize, f64)]) -> Vec<usize> {
        let elites: Vec<usize> = ranking
            .iter()
            .take(ELITES)
            .map(|&(index, _)| index)
            .collect();
        let mut pool: Vec<usize> = elites
            .iter()
            .flat_map(|&elite| neighbours(self.space, elite))
            .collect();
        for _ in 0..WALKS {
            pool.extend(self.walk(&elites));
        }
        for _ in 0..STRAYS {
            pool.push(self.rng.random_range(0..self.space.len()));
        }
        let mut kept = HashSet::new();
        pool.retain(|index| !self.asked.contains(index) && kept.insert(*index));
        pool.shuffle(&mut self.rng);
        pool
    }

    /// Two or three random steps from a random elite.
    fn walk(&mut self, elites: &[usize]) -> Option<usize> {
        let mut here = *elites.choose(&mut self.rng)?;
        for _ in 0..self.rng.random_range(2..=3) {
            here = *neighbours(self.space, here).choose(&mut self.rng)?;
        }
        Some(here)
    }

    fn candidates(&mut self, ranking: &[(usize, f64)], worked: &[Point]) -> Vec<Candidate> {
        let failed = self.results.iter().filter(|told| told.cost.is_none());
        let failed: Vec<Point> = failed.map(|told| self.point(told.index)).collect();
        let pool = self.pool(ranking);
        pool.into_iter()
            .map(|index| self.candidate(index, worked, &failed))
            .collect()
    }

    fn candidate(&self, index: usize, worked: &[Point], failed: &[Point]) -> Candidate {
        let point = self.point(index);
        let likeness = |points: &[Point]| {
            points
                .iter()
                .map(|p| self.surrogate.likeness(&point, p))
                .sum::<f64>()
        };
        let (good, bad) = (likeness(worked) + TRUST, likeness(failed));
        Candidate {
            index,
            reduced: self.surrogate.reduce(&point),
            point,
            log_chance: (good / (good + bad)).max(0.02).ln(),
        }
    }

    /// Takes the most promising candidates one by one, each making those like it less so.
    fn choose(&mut self, mut candidates: Vec<Candidate>, n: usize, mut best: f64) -> Vec<usize> {
        let mut chosen = Vec::new();
        while chosen.len() < n {
            let promise = |candidate: &Candidate| {
                let guess = self.surrogate.guess(&candidate.reduced);
                log_improvement(guess, best) + candidate.log_chance
            };
            let promises = candidates.iter().map(promise).enumerate();
            let Some((at, _)) = promises.max_by(|a, b| a.1.total_cmp(&b.1)) else {
                break;
            };
            let taken = candidates.swap_remove(at);
            best = best.min(self.surrogate.guess(&taken.reduced).mean);
            for other in &mut candidates {
                let sides = (
                    (&*taken.point, &*taken.reduced),
                    (&*other.point, &*other.reduced),
                );
                let share = self.surrogate.believe(sides.0, sides.1);
                other.reduced.push(share);
            }
            self.asked.insert(taken.index);
            chosen.push(taken.index);
        }
        chosen
    }
}

impl Strategy for Local<'_> {
    fn name(&self) -> &'static str {
        "local"
    }

    fn ask(&mut self, n: usize) -> Vec<usize> {
        if self.asked.len() >= self.space.len() {
            return Vec::new();
        }
        let ranking = self.ranking();
        if self.asked.len() < FIRST || ranking.len() < LEAST_VALID {
            return self.strays(n);
        }
        let worked = self.learn(&ranking);
        let candidates = self.candidates(&ranking, &worked);
        let mut asked = self.choose(candidates, n, ranking[0].1);
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
            } else {
                self.results.push(Told { index, cost });
            }
        }
    }
}

/// Logarithm of the improvement on `best` to be expected of a guess.
fn log_improvement(guess: Guess, best: f64) -> f64 {
    let z = (best - guess.mean) / guess.sd;
    let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    // The logistic approximation of the normal distribution is good to 0.01, which is enough to rank.
    let below = 1.0 / (1.0 + (-1.702 * z).exp());
    guess.sd.ln() + (z * below + density).max(1e-300).ln()
}
