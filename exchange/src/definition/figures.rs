//! Figures of a solved space: the number of valid configs and the sum of their indices, both of which may need more
//! than 128 bits, and the values that no valid config has.

use kiln_spec::csp::ConfigSet;
use num_bigint::BigUint;

use super::literal::Literal;
use super::model::Definition;

/// The number of valid configs.
pub fn valid(set: &ConfigSet) -> BigUint {
    set.len().into()
}

/// The sum of the indices of all valid configs. The index of a config is its position in the Cartesian product of all
/// values, in which the first parameter varies slowest. It is a mixed-radix number with one digit per parameter: the
/// position of the config's value in the parameter's list.
pub fn index_sum(definition: &Definition, set: &ConfigSet) -> BigUint {
    let mut sum = BigUint::ZERO;
    let mut weight = BigUint::from(1u32);
    for (param, counts) in definition.params.iter().zip(set.marginals()).rev() {
        if let Some((counts, others)) = counts {
            let digits: BigUint = counts
                .iter()
                .enumerate()
                .map(|(place, count)| BigUint::from(place) * count)
                .sum();
            sum += digits * others * &weight;
        }
        weight *= param.values.len();
    }
    sum
}

/// Like [`index_sum`], for a list of configs. A config is represented by the positions of its values.
pub fn sum_of_indices(definition: &Definition, configs: impl Iterator<Item = Vec<u32>>) -> BigUint {
    let index = |places: Vec<u32>| {
        let digits = definition.params.iter().zip(places);
        digits.fold(BigUint::ZERO, |index, (param, place)| {
            index * param.values.len() + place
        })
    };
    configs.map(index).sum()
}

/// The values that no valid config has, by parameter. Parameters without such values are left out.
pub fn dead_values<'a>(
    definition: &'a Definition,
    set: &ConfigSet,
) -> Vec<(&'a str, Vec<&'a Literal>)> {
    let mut dead = Vec::new();
    for (param, counts) in definition.params.iter().zip(set.marginals()) {
        let Some((counts, _)) = counts else { continue };
        let values = param.values.iter().zip(counts);
        let unused: Vec<_> = values
            .filter(|(_, count)| *count == 0)
            .map(|(value, _)| value)
            .collect();
        if !unused.is_empty() {
            dead.push((param.name.as_str(), unused));
        }
    }
    dead
}
