//! The space of a recording, which has exactly the configs that were recorded.

use super::param::RecordedParam;
use kiln_search::SpaceView;

/// A space that is a list of configs. Each config is packed into one number. The numbers are sorted, so a config is
/// found by binary search.
#[derive(Clone, Debug)]
pub struct RecordedSpace {
    params: Vec<RecordedParam>,
    counts: Vec<u32>,
    keys: Vec<u128>,
}

/// Why configs cannot be packed: a config (the field is its index) was recorded twice, or the parameters have too many
/// values.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unpackable {
    TooMany,
    Twice(usize),
}

impl RecordedSpace {
    /// Creates the space of these configs. Also returns, for each position in the space, the index of its config in
    /// `configs`.
    pub(crate) fn new(
        params: Vec<RecordedParam>,
        configs: &[&[u32]],
    ) -> Result<(Self, Vec<usize>), Unpackable> {
        let counts: Vec<u32> = params
            .iter()
            .map(|param| u32::try_from(param.texts.len()).unwrap_or(u32::MAX))
            .collect();
        let product = |product: u128, &count: &u32| product.checked_mul(u128::from(count));
        counts
            .iter()
            .try_fold(1u128, product)
            .ok_or(Unpackable::TooMany)?;
        let mut packed: Vec<(u128, usize)> = configs
            .iter()
            .map(|config| pack(&counts, config))
            .zip(0..)
            .collect();
        packed.sort_unstable();
        if let Some(pair) = packed.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Unpackable::Twice(pair[1].1));
        }
        let (keys, order) = packed.into_iter().unzip();
        Ok((
            Self {
                params,
                counts,
                keys,
            },
            order,
        ))
    }

    /// The tunable parameters.
    pub fn params(&self) -> &[RecordedParam] {
        &self.params
    }

    /// The space with only these configs. `indices` are in increasing order.
    pub(crate) fn restricted(&self, indices: &[usize]) -> Self {
        Self {
            params: self.params.clone(),
            counts: self.counts.clone(),
            keys: indices.iter().map(|&index| self.keys[index]).collect(),
        }
    }

    /// Maps the parameters of another space of the same kernel to the parameters of this space.
    pub(crate) fn map_from(&self, other: &Self) -> ParamMap {
        let param = |param: &RecordedParam| {
            let from = other
                .params
                .iter()
                .position(|known| known.name == param.name);
            let values = match from {
                Some(from) => other.params[from]
                    .texts
                    .iter()
                    .map(|text| param.position(text))
                    .collect(),
                None => Vec::new(),
            };
            (from, values)
        };
        ParamMap(self.params.iter().map(param).collect())
    }
}

/// Maps the parameters of a source space to those of a target space. For each parameter of the target, the map contains
/// the index of the same parameter in the source (`None` if the source lacks the parameter), and for each source value
/// its position in the target (`None` if the target lacks the value).
pub(crate) struct ParamMap(Vec<(Option<usize>, Vec<Option<u32>>)>);

impl ParamMap {
    /// The index in `target` of config `index` of `source`; `None` if `target` does not have the config. A parameter
    /// that the source lacks must have only one value.
    pub(crate) fn index(
        &self,
        source: &RecordedSpace,
        target: &RecordedSpace,
        index: usize,
    ) -> Option<usize> {
        let positions = source.positions(index);
        let position =
            |(place, (from, values)): (usize, &(Option<usize>, Vec<Option<u32>>))| match from {
                Some(from) => values[positions[*from] as usize],
                None => (target.counts[place] == 1).then_some(0),
            };
        let mapped: Option<Vec<u32>> = self.0.iter().enumerate().map(position).collect();
        target.index_of(&mapped?)
    }
}

fn pack(counts: &[u32], positions: &[u32]) -> u128 {
    let digits = counts.iter().zip(positions);
    digits.fold(0, |key, (&count, &position)| {
        key * u128::from(count) + u128::from(position)
    })
}

impl SpaceView for RecordedSpace {
    fn len(&self) -> usize {
        self.keys.len()
    }

    fn value_counts(&self) -> &[u32] {
        &self.counts
    }

    fn is_ordinal(&self, param: usize) -> bool {
        self.params[param].numbers.is_some()
    }

    fn value(&self, param: usize, position: u32) -> f64 {
        match &self.params[param].numbers {
            Some(numbers) => numbers[position as usize],
            None => f64::from(position),
        }
    }

    fn positions(&self, index: usize) -> Vec<u32> {
        let mut key = self.keys[index];
        let mut positions = vec![0; self.counts.len()];
        for (position, &count) in positions.iter_mut().zip(&self.counts).rev() {
            *position = u32::try_from(key % u128::from(count)).unwrap_or(u32::MAX);
            key /= u128::from(count);
        }
        positions
    }

    fn index_of(&self, positions: &[u32]) -> Option<usize> {
        let digits = positions.iter().zip(&self.counts);
        if positions.len() != self.counts.len()
            || digits.clone().any(|(position, count)| position >= count)
        {
            return None;
        }
        self.keys.binary_search(&pack(&self.counts, positions)).ok()
    }
}
