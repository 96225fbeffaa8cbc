//! Search spaces: the valid configs of a kernel for one problem on one device.
//!
//! Constraints and the conditions on launch plans become a model of [`crate::csp`], which finds the valid configs
//! without listing them. The size of a space is therefore limited only by [`SearchSpace::MAX_CONFIGS`], because configs
//! are numbered. If the graph of the configs would be too large, the space is instead a list of distinct valid configs
//! that were drawn at random.

mod configs;
mod error;
mod lower;
mod rejection;
mod rules;
mod sampled;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

pub use error::SpaceError;
pub use rejection::Rejection;
pub use rules::Rule;
pub use sampled::Sampled;

use crate::config::{Config, ParamValue};
use crate::csp::{CspError, LayerBudget, SampleSize};
use crate::device::limits::DeviceLimits;
use crate::model::{KernelSpec, TunableParam};
use crate::problem::Problem;
use configs::Configs;
use rejection::{in_words, rejections};
use rules::Rules;

/// The valid configs of a kernel for one problem on one device, numbered from 0. Their order depends only on the spec,
/// the problem and the device. If constraints tie too many parameters together, the space contains only a sample of the
/// valid configs; see [`Self::sampled`].
#[derive(Clone, Debug)]
pub struct SearchSpace {
    spec: KernelSpec,
    problem: Problem,
    limits: DeviceLimits,
    rules: Rules,
    configs: Configs,
    product: u128,
    rejections: OnceLock<Vec<Rejection>>,
}

impl SearchSpace {
    /// Maximum number of valid configs in a space.
    pub const MAX_CONFIGS: usize = 1_000_000_000_000;

    /// Finds the valid configs.
    ///
    /// # Errors
    /// If the baseline cannot be launched, or if there are no valid configs or too many. [`SpaceError`] lists the other
    /// errors.
    pub fn build(
        spec: &KernelSpec,
        problem: &Problem,
        limits: &DeviceLimits,
    ) -> Result<SearchSpace, SpaceError> {
        SearchSpace::build_at_most(spec, problem, limits, Self::MAX_CONFIGS)
    }

    /// Like [`Self::build`], with another limit on the number of valid configs.
    ///
    /// # Errors
    /// The same errors as [`Self::build`].
    pub fn build_at_most(
        spec: &KernelSpec,
        problem: &Problem,
        limits: &DeviceLimits,
        max_configs: usize,
    ) -> Result<SearchSpace, SpaceError> {
        let size = SampleSize::default();
        let budget = LayerBudget::default();
        SearchSpace::build_or_sample(spec, problem, limits, max_configs, budget, size)
    }

    /// Like [`Self::build_at_most`], but `budget` limits the work of the construction. If the construction exceeds it,
    /// the space is a random sample, and `size` limits the work of drawing this sample.
    pub(crate) fn build_or_sample(
        spec: &KernelSpec,
        problem: &Problem,
        limits: &DeviceLimits,
        max_configs: usize,
        budget: LayerBudget,
        size: SampleSize,
    ) -> Result<SearchSpace, SpaceError> {
        SearchSpace::prepared(spec, problem, limits, max_configs, |rules| {
            sampled::solve_or_list(rules, spec, problem, budget, size)
        })
    }

    /// Like [`Self::build_at_most`], with a budget for the construction. It is an error to exceed the budget.
    #[cfg(any(test, feature = "parse"))]
    pub(crate) fn build_within(
        spec: &KernelSpec,
        problem: &Problem,
        limits: &DeviceLimits,
        max_configs: usize,
        budget: LayerBudget,
    ) -> Result<SearchSpace, SpaceError> {
        SearchSpace::prepared(spec, problem, limits, max_configs, |rules| {
            rules.model.solve(budget).map(Configs::Exact)
        })
    }

    fn prepared(
        spec: &KernelSpec,
        problem: &Problem,
        limits: &DeviceLimits,
        max_configs: usize,
        solve: impl FnOnce(&Rules) -> Result<Configs, CspError>,
    ) -> Result<SearchSpace, SpaceError> {
        spec.check_baseline(problem, Some(limits))
            .map_err(|why| SpaceError::Baseline {
                baseline: spec.baseline.config.clone(),
                problem: problem.clone(),
                why: Box::new(why),
            })?;
        let product = product(&spec.params)?;
        let rules = Rules::new(spec, problem, limits)?;
        let configs = solve(&rules).map_err(|error| SpaceError::of(error, problem))?;
        if configs.len() == 0 {
            let rejections = rejections(&rules, spec, limits, product, &configs);
            return Err(SpaceError::empty(problem, in_words(rejections)));
        }
        if configs.len() > max_configs as u128 {
            return Err(SpaceError::TooMany {
                problem: problem.clone(),
                limit: max_configs,
            });
        }
        Ok(SearchSpace {
            spec: spec.clone(),
            problem: problem.clone(),
            limits: *limits,
            rules,
            configs,
            product,
            rejections: OnceLock::new(),
        })
    }

    /// Number of valid configs or, for a sample, of configs in the sample. It is at least 1.
    #[expect(
        clippy::len_without_is_empty,
        reason = "an empty space is an error of `build`"
    )]
    pub fn len(&self) -> usize {
        usize::try_from(self.configs.len()).expect("a length within the limit should fit")
    }

    /// The size of the sample, and the estimated number of valid configs. `None` if the space contains all valid
    /// configs.
    pub fn sampled(&self) -> Option<Sampled> {
        match &self.configs {
            Configs::Exact(_) => None,
            Configs::Listed(list) => {
                let sampled = Sampled::of(list, &self.rules, &self.spec, &self.limits);
                Some(sampled)
            }
        }
    }

    /// Number of combinations of parameter values before any constraint.
    pub fn product_len(&self) -> u128 {
        self.product
    }

    /// The parameters, in the order in which a config lists them.
    pub fn axes(&self) -> &[TunableParam] {
        &self.spec.params
    }

    /// The problem of the space.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The config with this index.
    ///
    /// # Panics
    /// If the index is not below [`Self::len`].
    pub fn config(&self, index: usize) -> Config {
        let ordinals = self.ordinals(index);
        let values = self.spec.params.iter().zip(ordinals);
        Config::new(values.map(|(param, i)| (param.name.clone(), param.values[i].clone())))
    }

    /// The values of the config with this index: for each parameter, the ordinal (the position of the value among the
    /// parameter's values).
    ///
    /// # Panics
    /// If the index is not below [`Self::len`].
    pub fn ordinals(&self, index: usize) -> Vec<usize> {
        let places = self.configs.places(index);
        places.into_iter().map(|place| place as usize).collect()
    }

    /// The index of a config; `None` if the space does not contain it.
    pub fn index_of(&self, config: &Config) -> Option<usize> {
        self.spec.check_values(config).ok()?;
        self.index_at(&sampled::places(&self.spec.params, config)?)
    }

    /// The index of the config whose values have these ordinals; `None` if the space does not contain it.
    pub fn index_at(&self, ordinals: &[u32]) -> Option<usize> {
        self.configs.index_of(ordinals)
    }

    /// The indices of the configs that differ from config `index` in exactly one parameter. Configs with an adjacent
    /// value come first, then configs with more distant values. Among values at the same distance, the parameters are
    /// in declared order.
    ///
    /// # Panics
    /// If the index is not below [`Self::len`].
    pub fn neighbours(&self, index: usize) -> Vec<usize> {
        let here = self.configs.places(index);
        let mut found = Vec::new();
        self.configs.neighbours(index, |axis, other, neighbour| {
            found.push((here[axis].abs_diff(other), axis, other, neighbour));
        });
        found.sort_unstable();
        let indices = found.into_iter();
        indices.map(|(.., neighbour)| neighbour).collect()
    }

    /// The index of the baseline; `None` if the baseline has a separate entry.
    pub fn baseline(&self) -> Option<usize> {
        if self.spec.baseline_is_another_entry() {
            return None;
        }
        self.index_of(&self.spec.baseline.config)
    }

    /// How many combinations of parameter values each constraint and limit rejects. The first call computes the
    /// numbers.
    pub fn rejections(&self) -> &[Rejection] {
        self.rejections.get_or_init(|| {
            let (product, configs) = (self.product, &self.configs);
            rejections(&self.rules, &self.spec, &self.limits, product, configs)
        })
    }

    /// The groups of parameters that depend on each other, each with the number of its valid combinations. Parameters
    /// with one value belong to no group. The product of the numbers is [`Self::len`]. Empty for a sample.
    pub fn components(&self) -> Vec<(Vec<&str>, u128)> {
        let name = |param: &usize| &*self.spec.params[*param].name;
        let Configs::Exact(set) = &self.configs else {
            return Vec::new();
        };
        let components = set.components();
        components
            .map(|(params, len)| (params.iter().map(name).collect(), len))
            .collect()
    }

    /// For each parameter, the values that no valid config has. Parameters without such values are left out. For a
    /// sample, only the constraints with which the graph was built exclude values.
    pub fn dead_values(&self) -> Vec<(&str, Vec<&ParamValue>)> {
        let mut dead = Vec::new();
        for (param, counts) in self
            .spec
            .params
            .iter()
            .zip(self.configs.graph().marginals())
        {
            let counts = counts.map(|(counts, _)| counts).unwrap_or_default();
            let values = param.values.iter().zip(counts);
            let unused = values.filter(|(_, count)| *count == 0);
            let unused: Vec<_> = unused.map(|(value, _)| value).collect();
            if !unused.is_empty() {
                dead.push((&*param.name, unused));
            }
        }
        dead
    }

    /// The reason why a config is not valid. `None` if the config is valid, even if the space is a sample without it.
    pub fn why_invalid(&self, config: &Config) -> Option<String> {
        let checked = self
            .spec
            .check_config(config, &self.problem, Some(&self.limits));
        checked.err().map(|why| why.to_string())
    }
}

/// The number of combinations of parameter values before any constraint.
fn product(params: &[TunableParam]) -> Result<u128, SpaceError> {
    let mut lengths = params.iter().map(|param| param.values.len() as u128);
    lengths
        .try_fold(1, u128::checked_mul)
        .ok_or(SpaceError::Product { axes: params.len() })
}
