//! The interface of a search space, as strategies use it.

/// A search space, as strategies see it. The valid configs are numbered from 0. A config is a vector of positions,
/// one per tunable parameter. A position is the index of a value in the list of the parameter's values. For example,
/// position 2 of `BLOCK_M in [16, 32, 64]` is the value 64.
pub trait SpaceView {
    /// The number of valid configs.
    fn len(&self) -> usize;

    /// Whether no config is valid.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of values of each tunable parameter.
    fn value_counts(&self) -> &[u32];

    /// Whether the values of a parameter have a meaningful order. Numbers have one; types and named choices do not.
    fn is_ordinal(&self, param: usize) -> bool;

    /// The value of an ordinal parameter at a position, as a number. The default is the position itself.
    fn value(&self, param: usize, position: u32) -> f64 {
        let _ = param;
        f64::from(position)
    }

    /// The positions of the config with this index, which must be less than [`len`](Self::len).
    fn positions(&self, index: usize) -> Vec<u32>;

    /// The index of the config with these positions; `None` if the config is not valid.
    fn index_of(&self, positions: &[u32]) -> Option<usize>;
}

/// The valid configs that differ from config `index` in exactly one parameter. For an ordinal parameter, the nearest
/// valid value in each direction is adjacent. The configs with adjacent values come first, then all others. No config
/// is returned twice.
pub fn neighbours(space: &dyn SpaceView, index: usize) -> Vec<usize> {
    let here = space.positions(index);
    let mut adjacent = Vec::new();
    let mut others = Vec::new();
    for (param, &count) in space.value_counts().iter().enumerate() {
        let at = |value: u32| with_value(space, &here, param, value);
        if space.is_ordinal(param) {
            let below: Vec<usize> = (0..here[param]).rev().filter_map(at).collect();
            let above: Vec<usize> = (here[param] + 1..count).filter_map(at).collect();
            for side in [below, above] {
                adjacent.extend(side.first());
                others.extend(side.iter().skip(1));
            }
        } else {
            others.extend(
                (0..count)
                    .filter(|&value| value != here[param])
                    .filter_map(at),
            );
        }
    }
    adjacent.extend(others);
    adjacent
}

fn with_value(space: &dyn SpaceView, positions: &[u32], param: usize, value: u32) -> Option<usize> {
    let mut changed = positions.to_vec();
    changed[param] = value;
    space.index_of(&changed)
}
