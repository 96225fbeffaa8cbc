//! Numbers about a space that may be too large for 128 bits, and values that no config has.

use kiln_spec::csp::ConfigSet;
use num_bigint::BigUint;

use super::literal::Literal;
use super::model::Definition;

/// How many configs are valid.
pub fn valid(set: &ConfigSet) -> BigUint {
    set.len().into()
}

/// The sum, over the valid configs, of their index in the Cartesian product: the first parameter is the slowest, each
/// digit the place among the values.
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

/// As [`index_sum`], of configs that are listed.
pub fn sum_of_indices(definition: &Definition, configs: impl Iterator<Item = Vec<u32>>) -> BigUint {
    let index = |places: Vec<u32>| {
        let digits = definition.params.iter().zip(places);
        digits.fold(BigUint::ZERO, |index, (param, place)| {
            index * param.values.len() + place
        })
    };
    configs.map(index).sum()
}

/// The values that are in no valid config, by parameter.
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
