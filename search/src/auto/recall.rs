//! Tries the best configs of an earlier search as long as they turn out to be good.

use crate::Prior;
use crate::ledger::TrialLedger;

/// Number of choices after which the best configs of the earlier search are no longer tried.
const MAX_TURNS: usize = 42;

/// The best configs of an earlier search, in order.
#[derive(Clone, Debug)]
pub(super) struct Recall {
    ranked: Vec<usize>,
    place: usize,
    every: usize,
    turns: usize,
    doubted: bool,
    /// Configs that are spread over the space. The best configs of the earlier search are compared with them.
    others: Vec<usize>,
}

impl Recall {
    /// Ranks the configs of the first earlier search. One in `every` choices tries the next of these configs. `None` if
    /// `priors` is empty, or if `every` is 0.
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

    /// Marks the earlier search as one that does not explain the measured values. Returns true the first time, and
    /// false afterwards.
    pub(super) fn doubt(&mut self) -> bool {
        !std::mem::replace(&mut self.doubted, true)
    }

    /// Whether there are no configs yet to compare the best ones with.
    pub(super) fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    /// Adds configs with which the best ones are compared.
    pub(super) fn compare_with(&mut self, others: &[usize]) {
        self.others.extend(others);
    }

    /// Counts one choice. If the number of the choice is a multiple of `every`, returns the best untried config of the
    /// earlier search. Otherwise returns `None`, and also after [`MAX_TURNS`] choices, or if the earlier search is
    /// doubted and its best configs are not good.
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

    /// Whether the median cost of the tried best configs is lower than the lower quartile of the configs that are
    /// spread over the space.
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
