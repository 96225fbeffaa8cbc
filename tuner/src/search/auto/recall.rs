//! Going on with the best configs of an earlier result while it proves right.

use crate::search::Prior;
use crate::search::ledger::Ledger;

/// Turns after which the earlier result has said what it has to say.
const MOST_TURNS: usize = 42;

/// The best configs of an earlier result, in order.
#[derive(Clone, Debug)]
pub(super) struct Recall {
    ranked: Vec<usize>,
    place: usize,
    every: usize,
    count: usize,
}

impl Recall {
    /// Of the first earlier result, if there is any; a turn every so many configs.
    pub(super) fn new(priors: &[&Prior], every: usize) -> Option<Self> {
        let prior = priors.first()?;
        let ranked = prior.ranked();
        (every > 0).then_some(Self { ranked, place: 0, every, count: 0 })
    }

    /// The next of the best, if it is their turn.
    pub(super) fn turn(&mut self, ledger: &Ledger) -> Option<usize> {
        self.count += 1;
        if self.count % self.every != 0 || self.count > MOST_TURNS {
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
}
