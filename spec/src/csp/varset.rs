//! Sets of variables, stored as bits.

/// Maximum number of variables (parameters with more than one value).
pub(super) const CAPACITY: usize = 256;

const WORDS: usize = CAPACITY / 64;

/// A set of variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct VarSet([u64; WORDS]);

impl VarSet {
    pub(super) fn one(var: usize) -> VarSet {
        let mut set = VarSet::default();
        set.0[var / 64] |= 1 << (var % 64);
        set
    }

    pub(super) fn union(mut self, other: VarSet) -> VarSet {
        for (mine, its) in self.0.iter_mut().zip(other.0) {
            *mine |= its;
        }
        self
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn within(&self, other: &VarSet) -> bool {
        self.0
            .iter()
            .zip(other.0)
            .all(|(mine, its)| mine & !its == 0)
    }

    pub(super) fn meets(&self, other: &VarSet) -> bool {
        self.0
            .iter()
            .zip(other.0)
            .any(|(mine, its)| mine & its != 0)
    }

    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..CAPACITY)
            .step_by(64)
            .zip(self.0)
            .flat_map(|(base, word)| {
                let left = |word: u64| (word != 0).then_some(word);
                let words = std::iter::successors(left(word), move |word| left(word & (word - 1)));
                words.map(move |word| base + word.trailing_zeros() as usize)
            })
    }
}
