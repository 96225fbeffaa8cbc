//! The configs that a strategy has returned, and their results.

use super::permutation::Permutation;
use super::strategy::Told;
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, HashSet};

/// The configs that a strategy has asked the caller to try, and the results in the order in which they were told. If
/// the caller tells the result of a config twice, the later result is kept.
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
    /// An empty ledger for a space of `len` configs.
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

    /// Marks a config as asked. Returns false if it was asked before or its result is known.
    pub(super) fn ask(&mut self, index: usize) -> bool {
        self.asked.insert(index)
    }

    pub(super) fn was_asked(&self, index: usize) -> bool {
        self.asked.contains(&index)
    }

    /// Whether every config of the space was asked or has a result.
    pub(super) fn is_exhausted(&self) -> bool {
        self.asked.len() >= self.len
    }

    /// Returns at most `n` random configs that were not asked before and have no result, and marks them as asked.
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

    /// Returns the first `n` configs of the random order in which [`strays`](Self::strays) draws configs, whether or
    /// not they were asked.
    pub(super) fn sample(&self, n: usize) -> Vec<usize> {
        (0..n.min(self.len))
            .filter_map(|place| self.order.at(place))
            .collect()
    }

    /// Stores results. A cost that is not a positive number is stored as a failure. Returns whether an earlier result
    /// changed.
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

    /// All results, in the order in which their configs were first told.
    pub(super) fn results(&self) -> &[Told] {
        &self.results
    }

    /// The result of a config, if it is known.
    pub(super) fn result(&self, index: usize) -> Option<Told> {
        self.slots.get(&index).map(|&slot| self.results[slot])
    }

    /// The results of valid configs, best first. Each is the position in [`results`](Self::results), and the logarithm
    /// of the cost.
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
