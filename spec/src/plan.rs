//! Launch plans: the grid, block and shared memory of a launch, as numbers.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::config::Config;
use crate::device::limits::DeviceLimits;
use crate::expr::{EvalError, Expr, Scope, Value, evaluate_int};
use crate::model::{ArgSpec, ElemType, Geometry, KernelSpec, ScalarArg, ScalarType, SliceArg};
use crate::problem::Problem;
use crate::unlaunchable::Unlaunchable;

/// Grid, block and dynamic shared memory of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LaunchPlan {
    /// Blocks per axis (x, y, z).
    pub grid: [u32; 3],
    /// Threads per block along each axis (x, y, z).
    pub block: [u32; 3],
    /// Dynamic shared memory per block, in bytes.
    pub shared_bytes: u32,
}

impl LaunchPlan {
    /// Threads per block.
    pub fn threads_per_block(&self) -> u64 {
        self.block
            .iter()
            .map(|&n| u64::from(n))
            .fold(1, u64::saturating_mul)
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u64 {
        self.grid
            .iter()
            .map(|&n| u64::from(n))
            .fold(1, u64::saturating_mul)
    }
}

impl fmt::Display for LaunchPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([gx, gy, gz], [bx, by, bz]) = (self.grid, self.block);
        write!(
            f,
            "grid=({gx},{gy},{gz}) block=({bx},{by},{bz}) shared={}",
            self.shared_bytes
        )
    }
}

/// Why a config cannot be launched for a problem.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A geometry expression has no value.
    #[error("{what}: {error}")]
    Eval {
        /// A description of the expression.
        what: &'static str,
        /// The reason why the expression has no value.
        error: EvalError,
    },
    /// An extent is zero, is negative or does not fit 32 bits.
    #[error("{what} is {value}, but must be from 1 to 4294967295")]
    Extent {
        /// A description of the extent.
        what: &'static str,
        /// The extent's value.
        value: i128,
    },
    /// The dynamic shared memory is negative or does not fit 32 bits.
    #[error("dynamic shared memory is {value} bytes, but must be from 0 to 4294967295")]
    SharedBytes {
        /// The value in bytes.
        value: i128,
    },
    /// A length or a footprint is negative or does not fit 64 bits.
    #[error("{what} is {value}, which does not fit 64 bits")]
    Size {
        /// A description of the length or footprint.
        what: &'static str,
        /// The value of the length or footprint.
        value: i128,
    },
    /// The value of a computed argument does not fit the argument's type.
    #[error("`{argument}` is {value}, which does not fit {ty}")]
    Argument {
        /// The argument's name.
        argument: String,
        /// The computed value.
        value: i128,
        /// The argument's type.
        ty: ScalarType,
    },
    /// The launch exceeds a limit of the device.
    #[error("{what} is {value}, but the device allows {limit}")]
    Limit {
        /// A description of the quantity that exceeds the limit.
        what: &'static str,
        /// The quantity's value.
        value: u64,
        /// The device's limit.
        limit: u64,
    },
    /// The launch does not meet a requirement of the compiled kernel.
    #[error(transparent)]
    Kernel(#[from] Unlaunchable),
}

/// The names that the expressions of one launch can use, with their values. The values come from a config, a problem,
/// the spec and, if they are known, the limits of a device.
#[derive(Clone, Copy, Debug)]
pub struct LaunchScope<'a> {
    /// The values of the tunable parameters.
    pub config: &'a Config,
    /// The values of the problem dimensions.
    pub problem: &'a Problem,
    /// The limits of the device. Without them, `device.*` has no value.
    pub limits: Option<&'a DeviceLimits>,
    /// The spec, which lists the names of choices and element types.
    pub spec: &'a KernelSpec,
}

impl Scope for LaunchScope<'_> {
    fn value(&self, name: &str) -> Option<Value> {
        self.config
            .value(name)
            .or_else(|| self.problem.value(name))
            .or_else(|| self.spec.literal(name))
    }

    fn device(&self) -> Option<&DeviceLimits> {
        self.limits
    }
}

impl KernelSpec {
    /// The value of a name that is neither a parameter nor a size: a named choice or an element type.
    pub fn literal(&self, name: &str) -> Option<Value> {
        let is_choice = self.params.iter().flat_map(|p| &p.values).any(
            |value| matches!(value, crate::config::ParamValue::Choice(choice) if &**choice == name),
        );
        let is_type = self
            .types
            .iter()
            .flat_map(|t| &t.choices)
            .any(|ty| ty.name() == name);
        (is_choice || is_type).then(|| Value::Name(name.into()))
    }

    /// The launch plan of the tuned entry for a config and a problem.
    ///
    /// # Errors
    /// If an extent or the shared memory has no value or is outside its range. [`LaunchPlan::check`] checks the limits
    /// of the device.
    pub fn plan(
        &self,
        config: &Config,
        problem: &Problem,
        limits: Option<&DeviceLimits>,
    ) -> Result<LaunchPlan, PlanError> {
        self.geometry.plan(&LaunchScope {
            config,
            problem,
            limits,
            spec: self,
        })
    }

    /// The launch plan of the baseline for a problem.
    ///
    /// # Errors
    /// The same errors as [`Self::plan`].
    pub fn baseline_plan(
        &self,
        problem: &Problem,
        limits: Option<&DeviceLimits>,
    ) -> Result<LaunchPlan, PlanError> {
        let scope = LaunchScope {
            config: &self.baseline.config,
            problem,
            limits,
            spec: self,
        };
        self.baseline_geometry().plan(&scope)
    }

    /// Total size in bytes of all slice arguments for a problem. Lengths that depend on the config use the baseline's
    /// config. If the problem lacks a type parameter, an element of that type counts as 4 bytes.
    ///
    /// # Errors
    /// If a length has no value or does not fit 64 bits, or if the total does not fit 64 bits.
    pub fn footprint_bytes(&self, problem: &Problem) -> Result<u64, PlanError> {
        let mut total: i128 = 0;
        for slice in self.slices() {
            let bytes = self
                .elem_type(slice, problem)
                .map_or(4, super::model::ElemType::bytes) as i128;
            let len = self.slice_len(&slice.len, &self.baseline.config, problem)?;
            total = total.saturating_add(i128::from(len).saturating_mul(bytes));
        }
        u64::try_from(total).map_err(|_| PlanError::Size {
            what: "the footprint in bytes",
            value: total,
        })
    }

    /// The alignment that a launch requires of a slice, in bytes. Without `#[align(..)]`, it is the size of an element.
    ///
    /// # Errors
    /// If the alignment has no value.
    pub fn align_bytes(
        &self,
        slice: &SliceArg,
        config: &Config,
        problem: &Problem,
    ) -> Result<i128, EvalError> {
        let bytes = self.elem_type(slice, problem).map_or(1, ElemType::bytes) as i128;
        let scope = LaunchScope {
            config,
            problem,
            limits: None,
            spec: self,
        };
        let elements = slice
            .align
            .as_ref()
            .map(|align| evaluate_int(align, &scope));
        Ok(elements.transpose()?.unwrap_or(1).saturating_mul(bytes))
    }

    /// The length of a slice, in elements, for a config and a problem.
    ///
    /// # Errors
    /// If the length has no value, is negative or does not fit 64 bits.
    pub fn slice_len(
        &self,
        len: &Expr,
        config: &Config,
        problem: &Problem,
    ) -> Result<u64, PlanError> {
        let value = self.evaluate_data("a slice length", len, config, problem)?;
        u64::try_from(value).map_err(|_| PlanError::Size {
            what: "a slice length",
            value,
        })
    }
}

impl KernelSpec {
    /// The value of a computed argument for a config and a problem.
    ///
    /// # Errors
    /// If the expression has no value, or if its value does not fit the argument's type.
    pub fn computed(
        &self,
        scalar: &ScalarArg,
        expr: &Expr,
        config: &Config,
        problem: &Problem,
    ) -> Result<i64, PlanError> {
        let value = self.evaluate_data("a computed argument", expr, config, problem)?;
        i64::try_from(value)
            .ok()
            .filter(|value| scalar.ty.holds(*value))
            .ok_or_else(|| PlanError::Argument {
                argument: scalar.name.clone(),
                value,
                ty: scalar.ty,
            })
    }

    /// Checks every computed argument, and every slice length that depends on the config.
    ///
    /// # Errors
    /// The error of the first argument or length that has no value or whose value is outside its range.
    pub fn check_data(&self, config: &Config, problem: &Problem) -> Result<(), PlanError> {
        for arg in &self.args {
            match (arg, arg.computed()) {
                (ArgSpec::Scalar(scalar), Some(expr)) => {
                    self.computed(scalar, expr, config, problem)?;
                }
                (ArgSpec::Slice(slice), _) if self.mentions_a_param(&slice.len) => {
                    self.slice_len(&slice.len, config, problem)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn evaluate_data(
        &self,
        what: &'static str,
        expr: &Expr,
        config: &Config,
        problem: &Problem,
    ) -> Result<i128, PlanError> {
        let scope = LaunchScope {
            config,
            problem,
            limits: None,
            spec: self,
        };
        evaluate_int(expr, &scope).map_err(|error| PlanError::Eval { what, error })
    }
}

impl Geometry {
    /// Whether the grid has no blocks: all its extents fit 32 bits, and at least one of them is zero. Such a launch
    /// does nothing.
    pub fn is_empty(&self, scope: &dyn Scope) -> bool {
        let extents: Option<Vec<u32>> = self
            .grid
            .iter()
            .map(|expr| u32::try_from(evaluate_int(expr, scope).ok()?).ok())
            .collect();
        extents.is_some_and(|extents| extents.contains(&0))
    }

    /// The launch plan of this geometry, with the names of `scope`.
    ///
    /// # Errors
    /// If an extent or the shared memory has no value or is outside its range.
    pub fn plan(&self, scope: &dyn Scope) -> Result<LaunchPlan, PlanError> {
        let shared_bytes = match &self.shared_bytes {
            None => 0,
            Some(expr) => {
                let what = "dynamic shared memory";
                let value =
                    evaluate_int(expr, scope).map_err(|error| PlanError::Eval { what, error })?;
                u32::try_from(value).map_err(|_| PlanError::SharedBytes { value })?
            }
        };
        Ok(LaunchPlan {
            grid: extents(&self.grid, ["grid x", "grid y", "grid z"], scope)?,
            block: extents(&self.block, ["block x", "block y", "block z"], scope)?,
            shared_bytes,
        })
    }
}

fn extents(
    exprs: &[Expr],
    names: [&'static str; 3],
    scope: &dyn Scope,
) -> Result<[u32; 3], PlanError> {
    let mut extents = [1; 3];
    for ((extent, expr), what) in extents.iter_mut().zip(exprs).zip(names) {
        let value = evaluate_int(expr, scope).map_err(|error| PlanError::Eval { what, error })?;
        *extent = u32::try_from(value)
            .ok()
            .filter(|&n| n > 0)
            .ok_or(PlanError::Extent { what, value })?;
    }
    Ok(extents)
}

impl LaunchPlan {
    /// Checks that a device can launch this plan.
    ///
    /// # Errors
    /// If an extent is zero, or if the launch exceeds a limit. The error describes the first such extent or limit.
    pub fn check(&self, limits: &DeviceLimits) -> Result<(), PlanError> {
        let at_most = |what, value: u64, limit: u64| {
            if value > limit {
                Err(PlanError::Limit { what, value, limit })
            } else {
                Ok(())
            }
        };
        let extent = |what, value: u32, limit: u32| match value {
            0 => Err(PlanError::Extent { what, value: 0 }),
            _ => at_most(what, value.into(), limit.into()),
        };
        at_most(
            "threads per block",
            self.threads_per_block(),
            limits.max_threads_per_block.into(),
        )?;
        for (axis, (what_block, what_grid)) in [
            ("block x", "grid x"),
            ("block y", "grid y"),
            ("block z", "grid z"),
        ]
        .into_iter()
        .enumerate()
        {
            extent(what_block, self.block[axis], limits.max_block[axis])?;
            extent(what_grid, self.grid[axis], limits.max_grid[axis])?;
        }
        at_most(
            "dynamic shared memory",
            self.shared_bytes.into(),
            limits.shared_bytes_per_block.into(),
        )
    }
}
