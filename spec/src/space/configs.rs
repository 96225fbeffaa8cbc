//! Stores the configs of a space: all of them as a graph, or a sample as a list.

use crate::csp::{ConfigSet, ListedSet};

/// The configs of a space, numbered from 0.
#[derive(Clone, Debug)]
pub(super) enum Configs {
    Exact(ConfigSet),
    Listed(ListedSet),
}

impl Configs {
    pub(super) fn len(&self) -> u128 {
        match self {
            Configs::Exact(set) => set.len(),
            Configs::Listed(list) => list.len() as u128,
        }
    }

    /// The number of valid configs, if it is known exactly.
    pub(super) fn valid(&self) -> Option<u128> {
        match self {
            Configs::Exact(set) => Some(set.len()),
            Configs::Listed(list) => list.valid().exact(),
        }
    }

    pub(super) fn places(&self, index: usize) -> Vec<u32> {
        match self {
            Configs::Exact(set) => set.places(index as u128),
            Configs::Listed(list) => list.places(index),
        }
    }

    pub(super) fn index_of(&self, places: &[u32]) -> Option<usize> {
        match self {
            Configs::Exact(set) => usize::try_from(set.index_of(places)?).ok(),
            Configs::Listed(list) => list.index_of(places),
        }
    }

    /// Calls `visit` for each config that differs from the config at `index` in exactly one parameter. `visit` receives
    /// the parameter, the ordinal of the other value and the index of the other config.
    pub(super) fn neighbours(&self, index: usize, mut visit: impl FnMut(usize, u32, usize)) {
        match self {
            Configs::Exact(set) => set.neighbours(index as u128, |param, place, other| {
                if let Ok(other) = usize::try_from(other) {
                    visit(param, place, other);
                }
            }),
            Configs::Listed(list) => list.neighbours(index, visit),
        }
    }

    /// The graph whose paths are the configs. If the space is a sample, the paths are a superset of the valid configs.
    pub(super) fn graph(&self) -> &ConfigSet {
        match self {
            Configs::Exact(set) => set,
            Configs::Listed(list) => list.relaxed().set(),
        }
    }
}
