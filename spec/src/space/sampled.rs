//! Spaces that contain only a sample of the valid configs, because constraints tie too many parameters together for an
//! exact graph.

use std::fmt;

use super::configs::Configs;
use super::rules::Rules;
use crate::config::Config;
use crate::csp::{CspError, Estimate, LayerBudget, ListedSet, SampleSize};
use crate::device::limits::DeviceLimits;
use crate::model::{KernelSpec, TunableParam};
use crate::problem::Problem;

/// The size of a sample, and how many valid configs there are in total.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// Number of configs in the sample.
    pub listed: usize,
    /// Number of valid configs in total, as an estimate.
    pub valid: Estimate,
    /// Whether the sample contains all valid configs.
    pub is_complete: bool,
    /// The constraints and limits that were left out of the graph. They were checked for each drawn config instead.
    pub left_out: Vec<String>,
}

impl Sampled {
    /// Describes the sample `list` of a kernel's configs.
    pub(super) fn of(
        list: &ListedSet,
        rules: &Rules,
        spec: &KernelSpec,
        limits: &DeviceLimits,
    ) -> Sampled {
        let numbers = list.relaxed().left_out().iter();
        let mut left_out: Vec<usize> = numbers.map(|i| rules.rule_of[*i]).collect();
        left_out.dedup();
        let text = |rule: usize| rules.rules[rule].text(spec, limits);
        Sampled {
            listed: list.len(),
            valid: list.valid(),
            is_complete: list.is_complete(),
            left_out: left_out.into_iter().map(text).collect(),
        }
    }
}

impl fmt::Display for Sampled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_complete {
            true => write!(f, "listed: all {}", self.valid)?,
            false => write!(f, "sampled: {} of {}", self.listed, self.valid)?,
        }
        let left_out = self.left_out.join("; ");
        write!(f, "; constraints left out while building: {left_out}")
    }
}

/// All valid configs or, if that takes too long, a sample of them. The sample depends only on the kernel's name, the
/// problem and the rules of the space. It contains the baseline if the baseline is a valid config.
pub(super) fn solve_or_list(
    rules: &Rules,
    spec: &KernelSpec,
    problem: &Problem,
    budget: LayerBudget,
    size: SampleSize,
) -> Result<Configs, CspError> {
    let relaxed = rules.model.relaxed(budget)?;
    if relaxed.is_exact() {
        return Ok(Configs::Exact(relaxed.into_set()));
    }
    let seed = format!("{} {problem}", spec.name);
    let baseline = (!spec.baseline_is_another_entry())
        .then(|| places(&spec.params, &spec.baseline.config))
        .flatten();
    let list = relaxed.list(seed.as_bytes(), size, baseline.as_deref())?;
    Ok(Configs::Listed(list))
}

/// For each parameter, the position of the config's value among the values of the parameter.
pub(super) fn places(params: &[TunableParam], config: &Config) -> Option<Vec<u32>> {
    let values = config.iter().zip(params);
    let places = values.map(|((_, value), param)| {
        let ordinal = param.values.iter().position(|v| v == value)?;
        u32::try_from(ordinal).ok()
    });
    places.collect()
}
