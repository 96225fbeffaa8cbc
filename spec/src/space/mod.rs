//! The valid configs of a kernel for one problem on one device.
//!
//! The space is enumerated depth first in declared order; each constraint cuts at the first parameter
//! at which all it mentions has a value. A config is stored as its rank in the unpruned product, so a
//! million of them take four megabytes.

mod compiled;
mod enumerate;
mod error;
mod ranks;
mod rules;
#[cfg(test)]
mod tests;
mod verification;

pub use error::SpaceError;
pub use rules::Rule;
pub use verification::verification_problems;

use crate::config::Config;
use crate::limits::DeviceLimits;
use crate::model::{KernelSpec, TunableParam};
use crate::problem::Problem;
use enumerate::{Bounds, Enumeration, MAX_STEPS};
use ranks::Ranks;

/// The valid configs of a kernel for one problem on one device, in declared order.
#[derive(Clone, Debug)]
pub struct SearchSpace {
    spec: KernelSpec,
    problem: Problem,
    limits: DeviceLimits,
    ranks: Ranks,
    /// Product of the axis lengths after each axis: the weight of its ordinal in a rank.
    weights: Vec<u128>,
    product: u128,
    rejections: Vec<Rejection>,
}

/// What one rule cut from the product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The rule.
    pub rule: Rule,
    /// The constraint as written, or the limit in words.
    pub text: String,
    /// How often it cut: partial configs that were not followed further.
    pub cuts: u64,
    /// Configs of the product that went with them. A config is counted at the first rule that
    /// rejects it.
    pub configs: u128,
}

impl SearchSpace {
    /// Valid configs at most.
    pub const MAX_CONFIGS: usize = 50_000_000;

    /// Enumerates the valid configs.
    ///
    /// # Errors
    /// When there are none or too many, or the baseline cannot be launched.
    pub fn build(
        spec: &KernelSpec,
        problem: &Problem,
        limits: &DeviceLimits,
    ) -> Result<SearchSpace, SpaceError> {
        SearchSpace::build_at_most(spec, problem, limits, Self::MAX_CONFIGS)
    }

    /// As [`Self::build`], with a limit of one's own on the number of valid configs.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn build_at_most(
        spec: &KernelSpec,
        problem: &Problem,
        limits: &DeviceLimits,
        max_configs: usize,
    ) -> Result<SearchSpace, SpaceError> {
        SearchSpace::build_within(spec, problem, limits, max_configs, MAX_STEPS)
    }

    /// As [`Self::build_at_most`], giving up after so many partial configs.
    pub(crate) fn build_within(
        spec: &KernelSpec,
        problem: &Problem,
        limits: &DeviceLimits,
        max_configs: usize,
        max_steps: u64,
    ) -> Result<SearchSpace, SpaceError> {
        spec.check_baseline(problem, Some(limits))
            .map_err(|why| SpaceError::Baseline {
                baseline: spec.baseline.config.clone(),
                problem: problem.clone(),
                why: Box::new(why),
            })?;
        let (weights, product) = weights(&spec.params)?;
        let bounds = Bounds {
            configs: max_configs,
            steps: max_steps,
        };
        let enumeration = Enumeration::run(spec, problem, limits, &weights, product, bounds)?;
        if enumeration.ranks.len() == 0 {
            return Err(enumeration.empty(problem));
        }
        Ok(SearchSpace {
            spec: spec.clone(),
            problem: problem.clone(),
            limits: *limits,
            ranks: enumeration.ranks,
            weights,
            product,
            rejections: enumeration.rejections,
        })
    }

    /// Number of valid configs; never 0.
    #[expect(
        clippy::len_without_is_empty,
        reason = "an empty space is an error of `build`"
    )]
    pub fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Number of configs before any constraint.
    pub fn product_len(&self) -> u128 {
        self.product
    }

    /// The parameters, in the order of a config.
    pub fn axes(&self) -> &[TunableParam] {
        &self.spec.params
    }

    /// The problem it was built for.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The config of that index.
    ///
    /// # Panics
    /// When the index is not below [`Self::len`].
    pub fn config(&self, index: usize) -> Config {
        let ordinals = self.ordinals(index);
        let values = self.spec.params.iter().zip(ordinals);
        Config::new(values.map(|(param, i)| (param.name.clone(), param.values[i].clone())))
    }

    /// For each axis, which of its values the config of that index has.
    ///
    /// # Panics
    /// When the index is not below [`Self::len`].
    pub fn ordinals(&self, index: usize) -> Vec<usize> {
        let rank = self.ranks.get(index);
        let axes = self.weights.iter().zip(&self.spec.params);
        axes.map(|(weight, param)| (rank / weight % param.values.len() as u128) as usize)
            .collect()
    }

    /// The index of a config; `None` if it is not in the space.
    pub fn index_of(&self, config: &Config) -> Option<usize> {
        self.spec.check_values(config).ok()?;
        let mut rank = 0;
        for (((_, value), param), weight) in config.iter().zip(&self.spec.params).zip(&self.weights)
        {
            let ordinal = param.values.iter().position(|v| v == value)?;
            rank += weight * ordinal as u128;
        }
        self.ranks.index_of(rank)
    }

    /// The valid configs that differ in one parameter: those with a neighbouring value first, then
    /// by distance, then in declared order.
    ///
    /// # Panics
    /// When the index is not below [`Self::len`].
    pub fn neighbours(&self, index: usize) -> Vec<usize> {
        let rank = self.ranks.get(index);
        let mut found = Vec::new();
        let axes = self.ordinals(index).into_iter().zip(&self.spec.params);
        for (axis, ((ordinal, param), weight)) in axes.zip(&self.weights).enumerate() {
            for other in (0..param.values.len()).filter(|other| *other != ordinal) {
                let moved = rank - weight * ordinal as u128 + weight * other as u128;
                if let Some(neighbour) = self.ranks.index_of(moved) {
                    found.push((ordinal.abs_diff(other), axis, other, neighbour));
                }
            }
        }
        found.sort_unstable();
        found.into_iter().map(|(.., neighbour)| neighbour).collect()
    }

    /// The index of the baseline; `None` if it is an entry of its own.
    pub fn baseline(&self) -> Option<usize> {
        if self.spec.baseline_is_another_entry() {
            return None;
        }
        self.index_of(&self.spec.baseline.config)
    }

    /// What each constraint and limit rejected, in the order they are tested. Together with
    /// [`Self::len`] this adds up to [`Self::product_len`].
    pub fn rejections(&self) -> &[Rejection] {
        &self.rejections
    }

    /// Why a config is not in the space; `None` if it is.
    pub fn why_invalid(&self, config: &Config) -> Option<String> {
        let checked = self
            .spec
            .check_config(config, &self.problem, Some(&self.limits));
        checked.err().map(|why| why.to_string())
    }
}

/// The weight of each axis in a rank, and their product with all values.
fn weights(params: &[TunableParam]) -> Result<(Vec<u128>, u128), SpaceError> {
    let mut weights = vec![0; params.len()];
    let mut product = 1u128;
    for (weight, param) in weights.iter_mut().zip(params).rev() {
        *weight = product;
        product = product
            .checked_mul(param.values.len() as u128)
            .ok_or(SpaceError::Product { axes: params.len() })?;
    }
    Ok((weights, product))
}
