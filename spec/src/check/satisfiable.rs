//! Checks that some config satisfies the constraints and the geometry, and that some known target can launch the
//! baseline.

use std::collections::BTreeSet;

use super::SpecCheck;
use crate::config::Config;
use crate::config::validity::Invalid;
use crate::csp::LayerBudget;
use crate::device::limits::DeviceLimits;
use crate::expr::{EvalError, Expr, evaluate_bool};
use crate::model::{Constraint, Geometry, KernelSpec};
use crate::plan::LaunchScope;
use crate::problem::Problem;
use crate::space::{SearchSpace, SpaceError};
use crate::targets::{MAX_THREADS_PER_BLOCK, TARGETS};
use crate::text::diagnostic::SpanRange;

/// The budget of one search. A search within this budget takes some milliseconds, even in an unoptimised macro.
const BUDGET: LayerBudget = LayerBudget {
    kept: 100_000,
    looked_at: 100_000,
};

/// Device limits that no extent exceeds.
const UNLIMITED: DeviceLimits = DeviceLimits {
    max_threads_per_block: u32::MAX,
    max_block: [u32::MAX; 3],
    max_grid: [u32::MAX; 3],
    shared_bytes_per_block: u32::MAX,
    warp_size: 32,
    lockstep_threads: 1,
    warps_per_product: 4,
    multiprocessors: 1,
    l2_bytes: 0,
    memory_bytes: 0,
};

impl SpecCheck<'_> {
    pub(super) fn satisfiable(&mut self) {
        let before = self.diagnostics.len();
        self.constraints();
        self.block();
        if self.diagnostics.len() == before {
            self.baseline_plan();
        }
        if self.diagnostics.len() == before {
            self.verified_sizes();
        }
        if self.diagnostics.len() == before && self.kernel.spec.baseline_is_another_entry() {
            self.whole_space();
        }
        if self.diagnostics.len() == before {
            self.first_configs();
        }
    }

    /// Checks that each config of `try_first` is valid for some declared problem on some known target.
    fn first_configs(&mut self) {
        let spec = &self.kernel.spec;
        let invalid: Vec<(SpanRange, Invalid)> = self
            .kernel
            .attr
            .try_first
            .iter()
            .zip(&spec.try_first)
            .filter_map(|(decl, config)| Some((decl.span, never_admitted(spec, config)?)))
            .collect();
        for (span, why) in invalid {
            let message = format!(
                "a config to try first is not in the search space of any problem on any known target: {why}"
            );
            let help = "change its values or remove it: it would never be tried";
            self.report(span, message, help);
        }
    }

    /// Checks each constraint on its own. Some config must satisfy it. If the baseline is a config of the search space,
    /// the baseline must satisfy it too.
    fn constraints(&mut self) {
        let kernel = self.kernel;
        for (i, constraint) in kernel.attr.constraints.iter().enumerate() {
            let broken = self.baseline_breaks(&constraint.expr);
            if broken.is_none() && !kernel.spec.baseline_is_another_entry() {
                continue;
            }
            let alone = reduced(&kernel.spec, &[&kernel.spec.constraints[i].expr], |spec| {
                spec.constraints = vec![kernel.spec.constraints[i].clone()];
            });
            if let Some((problem, _)) = never_valid(&alone, &known_limits()) {
                let span = constraint.span();
                let device = if constraint.expr.mentions_device() {
                    " on any known target"
                } else {
                    ""
                };
                let message = format!("no config satisfies this constraint for {problem}{device}");
                let help = "check the expression, and the values of the parameters it names";
                self.report(span, message, help);
            } else if let Some((message, help)) = broken {
                self.report(self.baseline_span(), message, &help);
            }
        }
    }

    /// The message and the help text if the baseline violates a constraint that it must satisfy.
    fn baseline_breaks(&self, constraint: &Expr) -> Option<(String, String)> {
        let spec = &self.kernel.spec;
        if spec.baseline_is_another_entry() {
            return None;
        }
        let broken = |problem| broken_for(spec, constraint, problem);
        let message = spec.problems.iter().find_map(broken)?;
        let values = spec.baseline.config.iter();
        let named = values.filter(|(name, _)| constraint.names().contains(&***name));
        let named: Vec<_> = named
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let named = named.join(", ");
        Some((
            message,
            format!("the baseline must be a config of the search space; in the baseline, {named}"),
        ))
    }

    fn baseline_span(&self) -> SpanRange {
        match &self.kernel.attr.baseline {
            Some(baseline) => baseline.span,
            None => self.kernel.function.ident.span().into(),
        }
    }

    /// Checks the extents of the block on their own, without the constraints, the grid and shared memory. Reports an
    /// error if, for some problem, every config gives a block that is empty or larger than any known device can launch.
    fn block(&mut self) {
        let kernel = self.kernel;
        let spec = &kernel.spec;
        let exprs: Vec<&Expr> = spec.geometry.block.iter().collect();
        let alone = reduced(spec, &exprs, |reduced| {
            reduced.geometry.block = spec.geometry.block.clone();
        });
        let span = kernel.attr.geometry.block.as_ref().map(|block| block.span);
        let Some(span) = span else { return };
        if let Some((problem, _)) = never_valid(&alone, &[UNLIMITED]) {
            let message = format!("no config gives a block of at least one thread for {problem}");
            self.report(span, message, "every extent must be 1 or more");
        } else if let Some((problem, _)) = never_valid(&alone, &known_limits()) {
            let message = format!(
                "the block has more than {MAX_THREADS_PER_BLOCK} threads in every config, for {problem}"
            );
            let help =
                "no known device launches it: at most 1024 threads, at most 64 of them along z";
            self.report(span, message, help);
        }
    }

    /// Checks that some known target can launch the baseline.
    fn baseline_plan(&mut self) {
        let spec = &self.kernel.spec;
        for problem in &spec.problems {
            let mut why: Option<Invalid> = None;
            let valid = known_limits().iter().any(|limits| {
                let checked = spec.check_baseline(problem, Some(limits));
                checked.map_err(|error| why.get_or_insert(error)).is_ok()
            });
            // If a length or a computed argument is wrong, another check reports it at its own position.
            let data = spec.check_data(&spec.baseline.config, problem);
            if let Some(why) = why.filter(|_| !valid && data.is_ok()) {
                let message = format!("the baseline cannot be launched for {problem}: {why}");
                let help = "the baseline must run for every declared problem on some known target";
                self.report(self.baseline_span(), message, help);
                return;
            }
        }
    }

    /// Checks that some known target can launch the baseline for each problem of `verify(..)`. Configs are compared with
    /// the baseline or launched next to it, so a size that it cannot launch would never be verified.
    fn verified_sizes(&mut self) {
        let spec = &self.kernel.spec;
        let refused = |problem: &Problem| {
            let mut checks = TARGETS
                .iter()
                .map(|target| spec.check_baseline(problem, Some(&target.limits)).err());
            let first = checks.next()??;
            checks.all(|error| error.is_some()).then_some(first)
        };
        let mut problems = spec.verify.iter().enumerate();
        let found = problems.find_map(|(i, problem)| Some((i, problem, refused(problem)?)));
        let Some((i, problem, why)) = found else {
            return;
        };
        // With type parameters, one declaration is several problems.
        let decls = &self.kernel.attr.verify;
        let place = if decls.len() == spec.verify.len() {
            i
        } else {
            0
        };
        let Some(decl) = decls.get(place) else { return };
        let message =
            format!("`verify(..)` has {problem}, for which the baseline cannot be launched: {why}");
        let help = "remove this problem, or change the constraint that excludes it";
        self.report(decl.span, message, help);
    }

    /// Checks all constraints together. This check is needed only if the baseline has a separate entry, because a
    /// baseline that is a valid config already proves that the constraints can be satisfied.
    fn whole_space(&mut self) {
        let spec = &self.kernel.spec;
        if let Some((problem, rejected)) = never_valid(spec, &known_limits()) {
            let message = format!("no config is valid for {problem} on any known target");
            let help = format!("on {}, {}", TARGETS[0].arch, rejected.join("; "));
            let span = match self.kernel.attr.constraints.first() {
                Some(first) => first.span(),
                None => self.kernel.function.ident.span().into(),
            };
            self.report(span, message, &help);
        }
    }
}

/// Explains why the baseline violates a constraint for a problem. `None` if the baseline satisfies the constraint on
/// some known target.
fn broken_for(spec: &KernelSpec, constraint: &Expr, problem: &Problem) -> Option<String> {
    let value = |limits: Option<&DeviceLimits>| {
        let scope = LaunchScope {
            config: &spec.baseline.config,
            problem,
            limits,
            spec,
        };
        evaluate_bool(constraint, &scope)
    };
    let violates = format!("the baseline violates `{constraint}` for {problem}");
    match value(None) {
        Ok(true) => None,
        Ok(false) => Some(violates),
        Err(EvalError::UnknownDevice(_)) => {
            let mut targets = TARGETS.iter();
            let holds = targets.any(|target| value(Some(&target.limits)) == Ok(true));
            (!holds).then(|| format!("{violates} on every known target"))
        }
        Err(error) => Some(format!("constraint {error} for the baseline and {problem}")),
    }
}

/// Explains why a config is not valid for any declared problem on any known target. `None` if it is valid for at least
/// one problem and target.
fn never_admitted(spec: &KernelSpec, config: &Config) -> Option<Invalid> {
    let mut why = None;
    for problem in spec.all_problems() {
        for limits in known_limits() {
            match spec.check_config(config, problem, Some(&limits)) {
                Ok(_) => return None,
                Err(invalid) => _ = why.get_or_insert(invalid),
            }
        }
    }
    why
}

fn known_limits() -> Vec<DeviceLimits> {
    TARGETS.iter().map(|target| target.limits).collect()
}

/// The first declared problem for which no config is valid under any of `limits`, with a list of the rules and how many
/// configs each of them rejects under the first of `limits`. A problem whose search takes too many steps counts as
/// valid.
fn never_valid(spec: &KernelSpec, limits: &[DeviceLimits]) -> Option<(Problem, Vec<String>)> {
    spec.problems.iter().find_map(|problem| {
        let mut why = None;
        for limits in limits {
            match SearchSpace::build_within(spec, problem, limits, 1, BUDGET) {
                Err(SpaceError::Empty { rejected, .. }) => why = why.or(Some(rejected)),
                _ => return None,
            }
        }
        why.map(|rejected| (problem.clone(), rejected))
    })
}

/// The spec reduced to the parameters that `exprs` use, without constraints and with a launch of one thread. `change`
/// then adds the constraint or geometry to be checked.
fn reduced(spec: &KernelSpec, exprs: &[&Expr], change: impl FnOnce(&mut KernelSpec)) -> KernelSpec {
    let names: BTreeSet<&str> = exprs.iter().flat_map(|expr| expr.names()).collect();
    let one = || Geometry {
        grid: vec![Expr::Int(1)],
        block: vec![Expr::Int(1)],
        shared_bytes: None,
    };
    let mut reduced = spec.clone();
    reduced.params.retain(|param| names.contains(&*param.name));
    reduced.constraints = Vec::<Constraint>::new();
    reduced.geometry = one();
    // Give the spec a separate baseline that is always valid, so that only the tuned entry is checked.
    reduced.baseline.entry = format!("{}_", spec.entry);
    reduced.baseline.geometry = Some(one());
    reduced.baseline.constraints.clear();
    let first = reduced
        .params
        .iter()
        .filter_map(|p| Some((p.name.clone(), p.values.first()?.clone())));
    reduced.baseline.config = crate::config::Config::new(first);
    change(&mut reduced);
    reduced
}
