//! A list of distinct valid configs that were drawn at random.

use std::collections::HashSet;

use super::super::error::CspError;
use super::super::hashing::WordHasher;
use super::estimate::Estimate;
use super::relaxed::{RelaxedSet, Sampler};

/// Minimum number of random configs that are tried for the estimate, even if fewer fill the list.
const ESTIMATED_FROM: u64 = 1 << 14;

/// Drawing ends with an error if fewer than one in this many of the tried configs is valid.
const HOPELESS: u64 = 1_000_000;

/// Limits of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSize {
    /// Maximum number of configs in the list.
    pub configs: usize,
    /// Maximum number of random configs that are tried.
    pub tries: u64,
}

impl Default for SampleSize {
    fn default() -> SampleSize {
        SampleSize {
            configs: 100_000,
            tries: 1 << 22,
        }
    }
}

/// Distinct valid configs, drawn uniformly and numbered from 0. Each takes 16 bytes of memory. If the set from which
/// they are drawn is small, all its configs are checked, and the list may then contain every valid config.
#[derive(Clone, Debug)]
pub struct ListedSet {
    relaxed: RelaxedSet,
    /// The indices of the listed configs in the relaxed set (the set from which they were drawn), in ascending order.
    listed: Vec<u128>,
    valid: Estimate,
}

impl RelaxedSet {
    /// Creates a list of valid configs. The list depends only on the arguments and the set. It contains the config
    /// `with` if that config is valid.
    ///
    /// # Errors
    /// If hardly any config of the set satisfies the constraints that were left out.
    pub fn list(
        self,
        seed: &[u8],
        size: SampleSize,
        with: Option<&[u32]>,
    ) -> Result<ListedSet, CspError> {
        let with = with.filter(|places| self.is_valid(places));
        let with = with.and_then(|places| self.set().index_of(places));
        let (mut listed, valid) = if self.set().len() <= size.tries.into() {
            self.walked(seed, size, with)
        } else {
            self.drawn(seed, size, with)?
        };
        listed.sort_unstable();
        listed.shrink_to_fit();
        Ok(ListedSet {
            relaxed: self,
            listed,
            valid,
        })
    }

    /// Checks every config of the set. If more configs are valid than the list may contain, chooses some of them at
    /// random. `with` is chosen in any case.
    fn walked(&self, seed: &[u8], size: SampleSize, with: Option<u128>) -> (Vec<u128>, Estimate) {
        let mut sampler = Sampler::new(self, seed);
        let mut found: Vec<u128> = (0..self.set().len())
            .filter(|index| sampler.is_valid(*index))
            .collect();
        let valid = Estimate::exactly(found.len() as u128);
        if found.len() <= size.configs {
            return (found, valid);
        }
        let mut chosen = 0;
        if let Some(place) = with.and_then(|with| found.binary_search(&with).ok()) {
            found.swap(0, place);
            chosen = 1;
        }
        while chosen < size.configs {
            let other = chosen + sampler.place(found.len() - chosen);
            found.swap(chosen, other);
            chosen += 1;
        }
        found.truncate(size.configs);
        (found, valid)
    }

    /// Checks random configs of the set until the list is full and at least [`ESTIMATED_FROM`] configs were tried, but
    /// at most `size.tries` configs.
    fn drawn(
        &self,
        seed: &[u8],
        size: SampleSize,
        with: Option<u128>,
    ) -> Result<(Vec<u128>, Estimate), CspError> {
        let mut sampler = Sampler::new(self, seed);
        let mut found: HashSet<u128, std::hash::BuildHasherDefault<WordHasher>> =
            with.into_iter().collect();
        let (mut tried, mut accepted) = (0, 0);
        let tries = size.tries.max(1);
        while tried < tries && (found.len() < size.configs || tried < ESTIMATED_FROM) {
            tried += 1;
            let Some(index) = sampler.draw() else {
                continue;
            };
            accepted += 1;
            if found.len() < size.configs {
                found.insert(index);
            }
        }
        if accepted * HOPELESS < tried {
            return Err(CspError::Hopeless { accepted, tried });
        }
        let valid = Estimate::of(accepted, tried, self.set().len(), found.len());
        Ok((found.into_iter().collect(), valid))
    }
}

impl ListedSet {
    /// The number of configs in the list.
    pub fn len(&self) -> usize {
        self.listed.len()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// The number of valid configs in total, as an estimate.
    pub fn valid(&self) -> Estimate {
        self.valid
    }

    /// Whether the list contains all valid configs.
    pub fn is_complete(&self) -> bool {
        self.valid.exact() == Some(self.listed.len() as u128)
    }

    /// The set from which the configs were drawn.
    pub fn relaxed(&self) -> &RelaxedSet {
        &self.relaxed
    }

    /// The places of the config with this index: for each parameter, the index of its value.
    ///
    /// # Panics
    /// If the index is not below [`Self::len`].
    pub fn places(&self, index: usize) -> Vec<u32> {
        self.relaxed.set().places(self.listed[index])
    }

    /// The index of the config with these places; `None` if the list does not contain it.
    pub fn index_of(&self, places: &[u32]) -> Option<usize> {
        self.number(self.relaxed.set().index_of(places)?)
    }

    /// Calls `visit` for each listed config that differs from config `index` in one parameter. `visit` receives the
    /// parameter, the place of the other value and the index of the other config.
    ///
    /// # Panics
    /// If the index is not below [`Self::len`].
    pub fn neighbours(&self, index: usize, mut visit: impl FnMut(usize, u32, usize)) {
        let set = self.relaxed.set();
        set.neighbours(self.listed[index], |param, place, other| {
            if let Some(other) = self.number(other) {
                visit(param, place, other);
            }
        });
    }

    /// The index in the list of the config whose index in the relaxed set is `index`; `None` if the list does not
    /// contain it.
    fn number(&self, index: u128) -> Option<usize> {
        self.listed.binary_search(&index).ok()
    }

    /// Size in bytes, including the graph of the relaxed set.
    pub fn bytes(&self) -> usize {
        self.relaxed.set().bytes() + self.listed.capacity() * size_of::<u128>()
    }
}
