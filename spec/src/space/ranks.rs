//! Sorted ranks, as narrow as the product allows.

/// Ranks of the valid configs in ascending order.
#[derive(Clone, Debug)]
pub(super) enum Ranks {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
    Huge(Vec<u128>),
}

impl Ranks {
    /// For ranks below `product`.
    pub(super) fn new(product: u128) -> Ranks {
        if product <= 1 << 32 {
            Ranks::Narrow(Vec::new())
        } else if product <= 1 << 64 {
            Ranks::Wide(Vec::new())
        } else {
            Ranks::Huge(Vec::new())
        }
    }

    /// Adds a rank above all others.
    pub(super) fn push(&mut self, rank: u128) {
        match self {
            Ranks::Narrow(ranks) => ranks.push(rank as u32),
            Ranks::Wide(ranks) => ranks.push(rank as u64),
            Ranks::Huge(ranks) => ranks.push(rank),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Ranks::Narrow(ranks) => ranks.len(),
            Ranks::Wide(ranks) => ranks.len(),
            Ranks::Huge(ranks) => ranks.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> u128 {
        match self {
            Ranks::Narrow(ranks) => ranks[index].into(),
            Ranks::Wide(ranks) => ranks[index].into(),
            Ranks::Huge(ranks) => ranks[index],
        }
    }

    pub(super) fn index_of(&self, rank: u128) -> Option<usize> {
        match self {
            Ranks::Narrow(ranks) => ranks.binary_search(&u32::try_from(rank).ok()?).ok(),
            Ranks::Wide(ranks) => ranks.binary_search(&u64::try_from(rank).ok()?).ok(),
            Ranks::Huge(ranks) => ranks.binary_search(&rank).ok(),
        }
    }
}
