//! Trying the best configs of an earlier result while they prove good.

use crate::Prior;
use crate::ledger::TrialLedger;

/// The number of turns after which the earlier result is no longer used.
const MAX_TURNS: usize = 42;

/// The best configs of an earlier result, in order.
#[derive(Clone, Debug)]
pub(super) struct Recall {
    ranked: Vec<usize>,
    place: usize,
    every: usize,
    turns: usize,
    doubted: bool,
    /// Configs spread over the space, that the best are compared with.
    others: Vec<usize>,
}

impl Recall {
    /// The best configs of the first earlier result, if there is one; one config in `every` is one of them.
    pub(super) fn new(priors: &[&Prior], every: usize) -> Option<Self> {
        let ranked = priors.first()?.ranked();
        (every > 0).then_some(Self {
            ranked,
            place: 0,
            every,
            turns: 0,
            doubted: false,
            others: Vec::new(),
        })
    }

    /// Notes that the earlier result does not explain the values; true the first time.
    pub(super) fn doubt(&mut self) -> bool {
        !std::mem::replace(&mut self.doubted, true)
    }

    /// Whether there is nothing yet to compare the best with.
    pub(super) fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    /// Configs to compare the best with.
    pub(super) fn compare_with(&mut self, others: &[usize]) {
        self.others.extend(others);
    }

    /// The next of the best, if it is their turn.
    pub(super) fn turn(&mut self, ledger: &TrialLedger) -> Option<usize> {
        self.turns += 1;
        if !self.turns.is_multiple_of(self.every)
            || self.turns > MAX_TURNS
            || (self.doubted && !self.is_good(ledger))
        {
            return None;
        }
        while self.place < self.ranked.len() {
            let index = self.ranked[self.place];
            self.place += 1;
            if !ledger.was_asked(index) {
                return Some(index);
            }
        }
        None
    }

    /// Whether half of the best are better than three quarters of the others.
    fn is_good(&self, ledger: &TrialLedger) -> bool {
        let costs = |indices: &[usize]| {
            let known = indices.iter().filter_map(|&index| ledger.result(index));
            let mut costs: Vec<f64> = known
                .map(|told| told.cost.unwrap_or(f64::INFINITY))
                .collect();
            costs.sort_by(f64::total_cmp);
            costs
        };
        let tried = self
            .ranked
            .iter()
            .copied()
            .take_while(|&index| ledger.was_asked(index));
        let (best, others) = (costs(&tried.collect::<Vec<_>>()), costs(&self.others));
        match (best.get(best.len() / 2), others.get(others.len() / 4)) {
            (Some(half), Some(quarter)) => half < quarter,
            _ => false,
        }
    }
}
