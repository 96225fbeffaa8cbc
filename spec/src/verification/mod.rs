//! Derives small problems on which a kernel is verified before it is timed.
//!
//! Kernels often fail if a size is smaller than a tile, just above a tile, or prime. Wherever the geometry or a
//! constraint divides a dimension, its divisor is a tile size of the dimension. From the tile sizes, this module
//! derives four classes of sizes for each dimension: one element, less than a tile, whole tiles, and tiles with a
//! remainder. If the grid stops growing with a dimension, the kernel loops over it, so the last class also contains a
//! size above what all threads of a launch take at once (a sweep). If a dimension is only a switch (all its declared
//! sizes are 0 or 1), it keeps its declared sizes.
//!
//! The derived problems mix the classes of different dimensions, so that most pairs of classes occur within
//! [`MAX_PROBLEMS`] problems.

mod derive;
mod neighbours;
#[cfg(test)]
mod tests;
mod tiles;

use crate::config::Config;
use crate::device::limits::DeviceLimits;
use crate::model::{ElemType, KernelSpec};
use crate::problem::{Problem, ProblemValue};
use derive::Derive;

pub use derive::MAX_PROBLEMS;

/// The problems for verifying the configs of a task, with the element types of `like`. If the author declares problems
/// for verification, they are the declared ones with the same element types. Otherwise they are up to [`MAX_PROBLEMS`]
/// derived problems. `sample` is some of the configs, or empty to verify only the baseline.
///
/// The baseline can be launched for each problem. If no problem were allowed that some config cannot launch, a
/// constraint on vector loads would remove all ragged sizes. So a config is verified on the problems that it can
/// launch, and [`Sizes::derived_for`] gives it further ones.
///
/// The result depends only on the arguments. It is empty if none of the problems is valid.
pub fn verification_problems(
    spec: &KernelSpec,
    sample: &[Config],
    like: &Problem,
    limits: Option<&DeviceLimits>,
) -> Vec<Problem> {
    Sizes::new(spec, sample, like, limits).shared()
}

/// The problems for verifying one config, as for [`verification_problems`]. The config and the baseline can both be
/// launched for each problem.
pub fn problems_of_config(
    spec: &KernelSpec,
    config: &Config,
    like: &Problem,
    limits: Option<&DeviceLimits>,
) -> Vec<Problem> {
    let sample = std::slice::from_ref(config);
    Sizes::new(spec, sample, like, limits).of(config)
}

/// One problem for each combination of element types that no declared problem has: the first declared problem with
/// these types. Programs may launch the kernel for them, so smoke tests do so too.
pub fn problems_of_other_types(spec: &KernelSpec) -> Vec<Problem> {
    let mut all: Vec<Problem> = spec.problems.first().cloned().into_iter().collect();
    for param in &spec.types {
        let of_each = |problem: Problem| {
            let choices = param.choices.iter();
            let with = |ty: &ElemType| problem.with(&param.name, ProblemValue::Type(*ty));
            choices.map(with).collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(of_each).collect();
    }
    let types = |problem: &Problem| -> Vec<_> {
        spec.types.iter().map(|ty| problem.get(&ty.name)).collect()
    };
    all.retain(|one| {
        spec.problems
            .iter()
            .all(|declared| types(declared) != types(one))
    });
    all
}

/// The sizes on which the configs of one task are verified.
#[derive(Clone, Copy, Debug)]
pub struct Sizes<'a> {
    spec: &'a KernelSpec,
    sample: &'a [Config],
    like: &'a Problem,
    limits: Option<&'a DeviceLimits>,
}

impl<'a> Sizes<'a> {
    /// `sample` is the configs from which tile sizes are derived, and `like` is the tuned problem.
    pub fn new(
        spec: &'a KernelSpec,
        sample: &'a [Config],
        like: &'a Problem,
        limits: Option<&'a DeviceLimits>,
    ) -> Sizes<'a> {
        Sizes {
            spec,
            sample,
            like,
            limits,
        }
    }

    /// See [`verification_problems`].
    pub fn shared(&self) -> Vec<Problem> {
        let derive = self.derive(None);
        if self.spec.verify.is_empty() {
            return derive.problems();
        }
        let baseline = |p: &&Problem| self.spec.check_baseline(p, self.limits).is_ok();
        self.declared().filter(baseline).cloned().collect()
    }

    /// The problems of one config: those of `verify(..)` that the config and the baseline can launch, or derived ones
    /// if none are declared.
    fn of(&self, config: &Config) -> Vec<Problem> {
        if self.spec.verify.is_empty() {
            return self.derived_for(config);
        }
        let derive = self.derive(Some(config));
        let valid = self.declared().filter(|p| derive.is_valid(p));
        valid.cloned().collect()
    }

    /// Up to [`MAX_PROBLEMS`] problems that are derived for one config, whatever `verify(..)` declares.
    pub fn derived_for(&self, config: &Config) -> Vec<Problem> {
        self.derive(Some(config)).problems()
    }

    /// The problems next to the tuned one: one with smaller and one with larger extents. Each extent changes by as
    /// little as the config and the baseline permit.
    pub fn neighbours(&self, config: &Config) -> Vec<Problem> {
        neighbours::of(self.like, &self.derive(Some(config)))
    }

    /// Problems of another shape than the tuned one. The config and the baseline can be launched for each of them.
    pub fn reshaped(&self, config: &Config) -> Vec<Problem> {
        neighbours::reshaped(self.like, &self.derive(Some(config)))
    }

    fn declared(&self) -> impl Iterator<Item = &'a Problem> {
        let (spec, like) = (self.spec, self.like);
        spec.verify.iter().filter(move |problem| {
            let mut types = spec.types.iter();
            types.all(|ty| problem.get(&ty.name) == like.get(&ty.name))
        })
    }

    fn derive(&self, only: Option<&'a Config>) -> Derive<'a> {
        let dims = self.spec.dimensions();
        let constraints = self.spec.constraints.iter().map(|c| &c.expr);
        Derive {
            spec: self.spec,
            sample: self.sample,
            only,
            like: self.like,
            limits: self.limits,
            sized: constraints
                .filter(|expr| dims.iter().any(|dim| expr.names().contains(dim)))
                .collect(),
        }
    }
}
