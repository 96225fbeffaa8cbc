//! The configs that a strategy asked for, and their results.

use super::permutation::Permutation;
use super::strategy::Told;
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, HashSet};

/// Configs asked for, and results in the order told; the latest of a config counts.
#[derive(Clone, Debug)]
pub(super) struct TrialLedger {
    order: Permutation,
    place: usize,
    len: usize,
    asked: HashSet<usize>,
    results: Vec<Told>,
    slots: HashMap<usize, usize>,
}

impl TrialLedger {
    /// Nothing yet, in a space of `len` configs.
    pub(super) fn new(len: usize, rng: &mut ChaCha8Rng) -> Self {
        Self {
            order: Permutation::new(len, rng),
            place: 0,
            len,
            asked: HashSet::new(),
            results: Vec::new(),
            slots: HashMap::new(),
        }
    }

    /// Notes that a config is asked for; false if it was before, or its result is known.
    pub(super) fn ask(&mut self, index: usize) -> bool {
        self.asked.insert(index)
    }

    pub(super) fn was_asked(&self, index: usize) -> bool {
        self.asked.contains(&index)
    }

    /// Whether nothing is left to ask for.
    pub(super) fn is_exhausted(&self) -> bool {
        self.asked.len() >= self.len
    }

    /// Random configs that were not asked for, at most `n`.
    pub(super) fn strays(&mut self, n: usize) -> Vec<usize> {
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

    /// The first configs of the random order that strays come from, asked for or not.
    pub(super) fn sample(&self, n: usize) -> Vec<usize> {
        (0..n.min(self.len))
            .filter_map(|place| self.order.at(place))
            .collect()
    }

    /// Takes results in; a cost that is not a positive number is a failure. Whether an earlier result was changed.
    pub(super) fn tell(&mut self, told: &[Told]) -> bool {
        let mut changed = false;
        for &Told { index, cost } in told.iter().filter(|told| told.index < self.len) {
            let cost = cost.filter(|cost| cost.is_finite() && *cost > 0.0);
            self.asked.insert(index);
            let slot = *self.slots.entry(index).or_insert(self.results.len());
            if slot < self.results.len() {
                changed |= self.results[slot].cost != cost;
                self.results[slot].cost = cost;
            } else {
                self.results.push(Told { index, cost });
            }
        }
        changed
    }

    /// All results.
    pub(super) fn results(&self) -> &[Told] {
        &self.results
    }

    /// The result of a config, if it is known.
    pub(super) fn result(&self, index: usize) -> Option<Told> {
        self.slots.get(&index).map(|&slot| self.results[slot])
    }

    /// Results that worked, as place in [`results`](Self::results) and logarithm of the cost, best first.
    pub(super) fn ranking(&self) -> Vec<(usize, f64)> {
        let log_cost = |(slot, told): (usize, &Told)| told.cost.map(|cost| (slot, cost.ln()));
        let mut ranking: Vec<(usize, f64)> = self
            .results
            .iter()
            .enumerate()
            .filter_map(log_cost)
            .collect();
        ranking.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranking
    }
}
