//! The candidates: all configs of a small space. In a large space, they are the neighbours of the best configs and a
//! random sample.

use crate::ledger::TrialLedger;
use crate::model::Settings;
use crate::space::{SpaceView, neighbours};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;

/// Number of best configs whose neighbours are candidates.
const ELITES: usize = 6;

/// The indices of the candidates. Candidates are only added until [`renew`](Self::renew) replaces them.
#[derive(Clone, Debug)]
pub(super) struct CandidatePool {
    indices: Vec<usize>,
    known: HashSet<usize>,
    whole: bool,
    most: usize,
    followed: Option<usize>,
}

impl CandidatePool {
    /// Creates the candidates for a space of `len` configs.
    pub(super) fn new(len: usize, settings: &Settings) -> Self {
        let whole = len as f64 <= settings.whole;
        Self {
            indices: if whole {
                (0..len).collect()
            } else {
                Vec::new()
            },
            known: HashSet::new(),
            whole,
            most: settings.candidates as usize,
            followed: None,
        }
    }

    /// The indices of the candidates.
    pub(super) fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// Replaces the candidates of a large space: up to half of them are near the best configs, and the others are
    /// random.
    pub(super) fn renew(
        &mut self,
        space: &dyn SpaceView,
        ledger: &TrialLedger,
        ranking: &[(usize, f64)],
        rng: &mut ChaCha8Rng,
    ) {
        if self.whole {
            return;
        }
        self.indices.clear();
        self.known.clear();
        let elites: Vec<usize> = ranking
            .iter()
            .take(ELITES)
            .map(|&(slot, _)| ledger.results()[slot].index)
            .collect();
        let mut rings: Vec<Vec<usize>> = elites
            .iter()
            .map(|&elite| neighbours(space, elite))
            .collect();
        for ring in &mut rings {
            ring.truncate(self.most / 2 / ELITES);
            self.add(ring, ledger);
        }
        // Adds neighbours of the neighbours while the first half has room.
        for _ in 0..self.most / 8 {
            if self.indices.len() >= self.most / 2 {
                break;
            }
            let start = rings.choose(rng).and_then(|ring| ring.choose(rng)).copied();
            let steps = start
                .map(|start| neighbours(space, start))
                .unwrap_or_default();
            let some: Vec<usize> = steps.sample(rng, 4).copied().collect();
            self.add(&some, ledger);
        }
        for _ in 0..self.most {
            if self.indices.len() >= self.most {
                break;
            }
            self.add(&[rng.random_range(0..space.len())], ledger);
        }
    }

    /// Adds the neighbours of the best config if the best config has changed.
    pub(super) fn follow(
        &mut self,
        space: &dyn SpaceView,
        ledger: &TrialLedger,
        ranking: &[(usize, f64)],
    ) {
        let best = ranking
            .first()
            .map(|&(slot, _)| ledger.results()[slot].index);
        if self.whole || best == self.followed {
            return;
        }
        self.followed = best;
        if let Some(best) = best {
            let mut ring = neighbours(space, best);
            ring.truncate(self.most / 2 / ELITES);
            self.add(&ring, ledger);
        }
    }

    fn add(&mut self, indices: &[usize], ledger: &TrialLedger) {
        for &index in indices {
            if !ledger.was_asked(index) && self.known.insert(index) {
                self.indices.push(index);
            }
        }
    }
}
