//! Checks whether a config belongs to a kernel's search space, and reports why it does not.

use thiserror::Error;

use crate::config::Config;
use crate::device::limits::DeviceLimits;
use crate::expr::{EvalError, Expr, evaluate_bool};
use crate::model::{Constraint, Geometry, KernelSpec};
use crate::plan::{LaunchPlan, LaunchScope, PlanError};
use crate::problem::Problem;

/// The reason why a config is not valid for a problem and a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Invalid {
    /// The config does not have the kernel's parameters in declared order.
    #[error("config `{found}` does not set {expected}")]
    Params {
        /// The rejected config.
        found: Config,
        /// The names of the kernel's parameters.
        expected: String,
    },
    /// A value is not one of the parameter's allowed values.
    #[error("{value} is not a value of `{name}`")]
    Value {
        /// The name of the parameter.
        name: String,
        /// The rejected value.
        value: String,
    },
    /// A constraint is false.
    #[error("constraint `{expr}` is false with {values}")]
    Constraint {
        /// The text of the constraint.
        expr: String,
        /// The values of the names in the constraint.
        values: String,
    },
    /// The constraint cannot be evaluated.
    #[error("constraint {error}")]
    Error {
        /// Why the constraint has no value.
        error: EvalError,
    },
    /// The launch geometry, a slice length or a computed argument has no valid value, or the launch exceeds a limit of
    /// the device.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl KernelSpec {
    /// Checks that a config sets every parameter to one of its allowed values. Constraints are not checked.
    ///
    /// # Errors
    /// If the config does not have exactly the kernel's parameters in declared order, or if a value is not allowed.
    pub fn check_values(&self, config: &Config) -> Result<(), Invalid> {
        let same_names = config.len() == self.params.len()
            && (config.iter().zip(&self.params)).all(|((name, _), param)| *name == param.name);
        if !same_names {
            let names: Vec<_> = self.params.iter().map(|p| &*p.name).collect();
            return Err(Invalid::Params {
                found: config.clone(),
                expected: names.join(", "),
            });
        }
        for ((name, value), param) in config.iter().zip(&self.params) {
            if !param.values.contains(value) {
                return Err(Invalid::Value {
                    name: name.to_string(),
                    value: value.to_string(),
                });
            }
        }
        Ok(())
    }

    /// Checks that the tuned entry may be launched with a config for a problem. Without `limits`, conditions that
    /// depend on the device are treated as satisfied.
    ///
    /// # Errors
    /// The first reason why the entry may not be launched.
    pub fn check_config(
        &self,
        config: &Config,
        problem: &Problem,
        limits: Option<&DeviceLimits>,
    ) -> Result<(), Invalid> {
        self.check(config, &self.constraints, &self.geometry, problem, limits)
    }

    /// Checks that the baseline may be launched for a problem; see [`Self::check_config`].
    ///
    /// # Errors
    /// The first reason why the baseline may not be launched.
    pub fn check_baseline(
        &self,
        problem: &Problem,
        limits: Option<&DeviceLimits>,
    ) -> Result<(), Invalid> {
        if !self.baseline_is_another_entry() {
            return self.check_config(&self.baseline.config, problem, limits);
        }
        // The kernel's constraints apply only to the tuned entry.
        let (config, own) = (&self.baseline.config, &self.baseline.constraints);
        self.check(config, own, self.baseline_geometry(), problem, limits)
    }

    fn check(
        &self,
        config: &Config,
        constraints: &[Constraint],
        geometry: &Geometry,
        problem: &Problem,
        limits: Option<&DeviceLimits>,
    ) -> Result<(), Invalid> {
        self.check_values(config)?;
        let scope = LaunchScope {
            config,
            problem,
            limits,
            spec: self,
        };
        check_constraints(constraints, &scope)?;
        self.check_data(config, problem)?;
        check_plan(geometry.plan(&scope), limits)
    }
}

fn check_constraints(constraints: &[Constraint], scope: &LaunchScope<'_>) -> Result<(), Invalid> {
    for constraint in constraints {
        match evaluate_bool(&constraint.expr, scope) {
            Ok(true) | Err(EvalError::UnknownDevice(_)) => {}
            Ok(false) => return Err(false_constraint(&constraint.expr, scope)),
            Err(error) => return Err(Invalid::Error { error }),
        }
    }
    Ok(())
}

fn check_plan(
    plan: Result<LaunchPlan, PlanError>,
    limits: Option<&DeviceLimits>,
) -> Result<(), Invalid> {
    match (plan, limits) {
        (Ok(plan), Some(limits)) => Ok(plan.check(limits)?),
        (Ok(_), None) => Ok(()),
        (
            Err(PlanError::Eval {
                error: EvalError::UnknownDevice(_),
                ..
            }),
            None,
        ) => Ok(()),
        (Err(error), _) => Err(error.into()),
    }
}

fn false_constraint(expr: &Expr, scope: &LaunchScope<'_>) -> Invalid {
    let mut values = Vec::new();
    for name in expr.names() {
        let known = scope.config.get(name).map(ToString::to_string);
        let known = known.or_else(|| scope.problem.get(name).map(|v| v.to_string()));
        values.extend(known.map(|value| format!("{name}={value}")));
    }
    if let Some(limits) = scope.limits {
        expr.walk(&mut |part| {
            if let Expr::Device(limit) = part {
                values.push(format!("device.{}={}", limit.name(), limit.of(limits)));
            }
        });
    }
    Invalid::Constraint {
        expr: expr.to_string(),
        values: values.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ParamValue;
    use crate::device::limits::DeviceLimit;
    use crate::expr::BinaryOp;
    use crate::model::{Constraint, TunableParam};
    use crate::targets::{CPU_LIMITS, target};
    use crate::testing::plain_spec;

    fn spec() -> KernelSpec {
        let threads = TunableParam {
            name: "THREADS".into(),
            values: [64, 2048].map(ParamValue::Int).to_vec(),
        };
        let mut spec = plain_spec(vec![threads]);
        let name = |name: &str| Box::new(Expr::Name(name.into()));
        let shared = Expr::Device(DeviceLimit::SharedBytesPerBlock);
        let bytes = Expr::Binary(BinaryOp::Mul, name("THREADS"), Box::new(Expr::Int(1024)));
        spec.constraints.push(Constraint {
            expr: Expr::Binary(BinaryOp::Le, Box::new(bytes), Box::new(shared)),
        });
        spec.geometry.block = vec![*name("THREADS")];
        spec
    }

    fn config(threads: i64) -> Config {
        Config::new([("THREADS".into(), ParamValue::Int(threads))])
    }

    #[test]
    fn what_depends_on_the_device_counts_as_allowed_without_one() {
        let spec = spec();
        let problem = &spec.problems[0];
        let hopper = target("sm_90").map(|t| t.limits);
        assert!(spec.check_config(&config(64), problem, None).is_ok());
        assert!(
            spec.check_config(&config(64), problem, hopper.as_ref())
                .is_ok()
        );
        let why = spec
            .check_config(&config(64), problem, Some(&CPU_LIMITS))
            .unwrap_err();
        assert_eq!(
            why.to_string(),
            "constraint `THREADS * 1024 <= device.shared_bytes_per_block` is false with \
             THREADS=64, device.shared_bytes_per_block=49152"
        );
    }

    #[test]
    fn a_baseline_of_its_own_must_meet_its_own_constraints() {
        let mut spec = spec();
        spec.baseline.entry = "simple".into();
        spec.baseline.config = config(2048);
        let size = Box::new(Expr::Name("n".into()));
        spec.baseline.constraints = vec![Constraint {
            expr: Expr::Binary(BinaryOp::Le, size, Box::new(Expr::Int(100))),
        }];
        let checked = |n: i64| {
            let problem = Problem::new([("n".into(), crate::problem::ProblemValue::Size(n))]);
            spec.check_baseline(&problem, None)
                .map_err(|why| why.to_string())
        };
        assert_eq!(checked(100), Ok(()));
        assert_eq!(
            checked(101),
            Err("constraint `n <= 100` is false with n=101".into())
        );
    }

    #[test]
    fn a_config_of_another_kernel_is_named_as_such() {
        let spec = spec();
        let problem = &spec.problems[0];
        let why = |config| {
            spec.check_config(&config, problem, None)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(why(config(65)), "65 is not a value of `THREADS`");
        let other = Config::new([("BLOCK".into(), ParamValue::Int(64))]);
        assert_eq!(why(other), "config `BLOCK=64` does not set THREADS");
    }

    #[test]
    fn a_plan_beyond_the_device_is_invalid() {
        let mut spec = spec();
        spec.constraints.clear();
        let problem = &spec.problems[0];
        let why = spec
            .check_config(&config(2048), problem, Some(&CPU_LIMITS))
            .unwrap_err();
        assert_eq!(
            why.to_string(),
            "threads per block is 2048, but the device allows 1024"
        );
    }

    #[test]
    fn a_baseline_of_its_own_need_not_meet_the_constraints() {
        let mut spec = spec();
        let problem = spec.problems[0].clone();
        assert!(spec.check_baseline(&problem, Some(&CPU_LIMITS)).is_ok());
        spec.baseline.entry = spec.entry.clone();
        spec.baseline.geometry = None;
        assert!(spec.check_baseline(&problem, Some(&CPU_LIMITS)).is_err());
    }
}
