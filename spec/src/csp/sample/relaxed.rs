//! A superset of the valid configs, together with the constraints that were left out.

use super::super::set::ConfigSet;
use super::super::value::Outcome;
use super::checks::Checks;
use super::draws::Draws;
use super::estimate::Estimate;

/// The configs that satisfy all constraints except those left out, together with what is needed to check the left-out
/// constraints.
#[derive(Clone, Debug)]
pub struct RelaxedSet {
    set: ConfigSet,
    checks: Checks,
    left_out: Vec<usize>,
}

impl RelaxedSet {
    pub(super) fn new(set: ConfigSet, checks: Checks, left_out: Vec<usize>) -> RelaxedSet {
        RelaxedSet {
            set,
            checks,
            left_out,
        }
    }

    /// The configs that satisfy the constraints that were not left out.
    pub fn set(&self) -> &ConfigSet {
        &self.set
    }

    /// Whether no constraint was left out. The set then contains exactly the valid configs.
    pub fn is_exact(&self) -> bool {
        self.left_out.is_empty()
    }

    /// The configs that satisfy the constraints that were not left out. The left-out constraints can then no longer be
    /// checked.
    pub fn into_set(self) -> ConfigSet {
        self.set
    }

    /// The indices of the constraints that were left out, wholly or in part. If there are none, the set is exact.
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// Whether the config with these places satisfies every constraint.
    pub fn is_valid(&self, places: &[u32]) -> bool {
        self.set.index_of(places).is_some() && self.checks.hold(places, &mut Vec::new())
    }

    /// Estimates the number of valid configs from `tries` random configs of the set.
    pub fn estimate(&self, seed: &[u8], tries: u64) -> Estimate {
        if self.set.is_empty() || tries == 0 {
            return Estimate::of(0, tries.max(1), self.set.len(), 0);
        }
        let mut sampler = Sampler::new(self, seed);
        let accepted = (0..tries).filter(|_| sampler.draw().is_some()).count();
        Estimate::of(accepted as u64, tries, self.set.len(), 0)
    }

    /// Draws `tries` random configs of the set and returns the valid ones, which are uniformly distributed over the
    /// valid configs.
    pub fn draw(&self, seed: &[u8], tries: u64) -> Vec<Vec<u32>> {
        if self.set.is_empty() {
            return Vec::new();
        }
        let mut sampler = Sampler::new(self, seed);
        let drawn = (0..tries).filter_map(|_| sampler.draw());
        drawn.map(|index| self.set.places(index)).collect()
    }
}

/// Draws random configs of a relaxed set, and checks them.
pub(super) struct Sampler<'a> {
    relaxed: &'a RelaxedSet,
    draws: Draws,
    places: Vec<u32>,
    outcomes: Vec<Outcome>,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(relaxed: &'a RelaxedSet, seed: &[u8]) -> Sampler<'a> {
        Sampler {
            relaxed,
            draws: Draws::new(seed),
            places: vec![0; relaxed.set.params()],
            outcomes: Vec::new(),
        }
    }

    /// Draws a random config. Returns its index if the config is valid.
    pub(super) fn draw(&mut self) -> Option<u128> {
        let index = self.draws.below(self.relaxed.set.len());
        self.is_valid(index).then_some(index)
    }

    /// Whether the config with this index in the relaxed set is valid.
    pub(super) fn is_valid(&mut self, index: u128) -> bool {
        self.relaxed.set.write_places(index, &mut self.places);
        self.relaxed.checks.hold(&self.places, &mut self.outcomes)
    }

    /// A random index into a list of length `len`.
    pub(super) fn place(&mut self, len: usize) -> usize {
        usize::try_from(self.draws.below(len as u128)).unwrap_or(0)
    }
}
