//! Reports of smoke tests.

use std::fmt;

use kiln_spec::{Config, LaunchPlan, Problem};
use thiserror::Error;

use super::compared_with::ComparedWith;
use crate::compare::WorstElement;
use crate::data::reference::DataError;
use crate::device::DeviceError;
use crate::kernel::Kernel;
use crate::launch::error::LaunchError;
use crate::prepare::error::PrepareError;
use crate::receipt::ReceiptMismatch;
use crate::rig::RigError;
use crate::selection::Choice;

/// The result of the smoke tests of one kernel on one device.
#[derive(Clone, Debug)]
pub struct SmokeReport {
    /// The kernel.
    pub kernel: String,
    /// The device it ran on.
    pub device: String,
    /// One check for the baseline of each element type, then one for each baked row.
    pub checks: Vec<Check>,
}

/// One choice, launched or not.
#[derive(Clone, Debug)]
pub struct Check {
    /// The baseline, or a row.
    pub choice: Choice,
    /// Its config.
    pub config: Config,
    /// The device it was tuned on; `None` for the baseline.
    pub tuned_on: Option<String>,
    /// The problem it was launched for, or would have been.
    pub problem: Problem,
    /// Its result.
    pub outcome: CheckOutcome,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub enum CheckOutcome {
    /// Receipt, symbol, plan and outputs are as intended.
    Passed {
        /// The plan it was launched with.
        plan: LaunchPlan,
        /// The largest error of any output, as a fraction of its bound; `None` if there is nothing to compare with.
        max_error_ratio: Option<f64>,
        /// What the outputs were compared with.
        compared_with: ComparedWith,
        /// Why no check build ran in other orders of threads, if the device is the cpu, which has such builds.
        not_checked: Option<String>,
    },
    /// This device cannot launch it.
    NotRun {
        /// Why not.
        why: String,
    },
    /// Something is not as intended.
    Failed(Failure),
}

/// A difference from what was intended.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// No input data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The entry cannot be compiled or loaded.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The launch function refused, or the device did.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The device failed outside a launch.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A launch outside the launch function failed.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The device wrote something else than the intended launch would have.
    #[error(transparent)]
    Receipt(#[from] ReceiptMismatch),
    /// The launch function used another symbol than the row's.
    #[error("the launch function launched `{found}`, the row says `{expected}`")]
    Symbol {
        /// The symbol in the row's literal.
        expected: String,
        /// What was launched.
        found: String,
    },
    /// The launch function computed another plan than the spec, or the row's literal.
    #[error("{what}: the plan is {found}, it should be {expected}")]
    Plan {
        /// Which plan.
        what: &'static str,
        /// The plan of the spec, or the row's literal.
        expected: LaunchPlan,
        /// What was computed.
        found: LaunchPlan,
    },
    /// The launch function launched another number of times than once.
    #[error("the launch function launched {launches} times instead of once")]
    Launches {
        /// How often.
        launches: usize,
    },
    /// An output is not that of the reference.
    #[error("{entry} entry: {error}")]
    Output {
        /// Which entry computed it.
        entry: &'static str,
        /// The worst element.
        error: WorstElement,
    },
    /// An input was changed.
    #[error("{entry} entry: the input `{argument}` was changed")]
    InputChanged {
        /// Which entry changed it.
        entry: &'static str,
        /// The input.
        argument: String,
    },
    /// The two entries do different things.
    #[error(
        "the release and the receipt entry are not the same kernel: in a launch of one block they write different \
         elements of `{argument}`, first at element {element}"
    )]
    Footprint {
        /// The output.
        argument: String,
        /// The first element that only one of them writes.
        element: usize,
    },
}

impl Check {
    pub(super) fn new(
        kernel: &'static Kernel,
        choice: Choice,
        problem: Problem,
        outcome: CheckOutcome,
    ) -> Check {
        Check {
            choice,
            config: kernel.config(choice),
            tuned_on: match choice {
                Choice::Baseline => None,
                Choice::Row(row) => Some(kernel.rows()[row].device.to_string()),
            },
            problem,
            outcome,
        }
    }

    pub(super) fn not_run(
        kernel: &'static Kernel,
        choice: Choice,
        problem: Problem,
        why: String,
    ) -> Check {
        Check::new(kernel, choice, problem, CheckOutcome::NotRun { why })
    }

    /// What failed, if anything did.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.outcome {
            CheckOutcome::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}

impl SmokeReport {
    /// Whether nothing failed.
    pub fn passed(&self) -> bool {
        self.failures().next().is_none()
    }

    /// The checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.failure().is_some())
    }

    /// How many checks passed, failed and did not run.
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |which: fn(&CheckOutcome) -> bool| {
            let outcomes = self.checks.iter().map(|check| &check.outcome);
            outcomes.filter(|outcome| which(outcome)).count()
        };
        (
            count(|outcome| matches!(outcome, CheckOutcome::Passed { .. })),
            count(|outcome| matches!(outcome, CheckOutcome::Failed(_))),
            count(|outcome| matches!(outcome, CheckOutcome::NotRun { .. })),
        )
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.choice)?;
        if let Some(device) = &self.tuned_on {
            write!(f, " ({device})")?;
        }
        write!(f, " {} for {}: ", self.config, self.problem)?;
        match &self.outcome {
            CheckOutcome::Passed {
                plan,
                max_error_ratio,
                compared_with,
                not_checked,
            } => {
                write!(f, "launched as intended, {plan}; ")?;
                match max_error_ratio {
                    None => write!(f, "nothing to compare its outputs with")?,
                    Some(ratio) => {
                        write!(
                            f,
                            "max error {ratio:.3} of its bound against {compared_with}"
                        )?;
                    }
                }
                match not_checked {
                    None => Ok(()),
                    Some(why) => write!(f, "; not checked for races and bounds: {why}"),
                }
            }
            CheckOutcome::NotRun { why } => write!(f, "not run: {why}"),
            CheckOutcome::Failed(failure) => write!(f, "FAILED: {failure}"),
        }
    }
}

impl fmt::Display for SmokeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for check in &self.checks {
            writeln!(f, "{}: {check}", self.kernel)?;
        }
        let (passed, failed, not_run) = self.counts();
        write!(
            f,
            "{} on {}: {passed} launched as intended, {failed} failed, {not_run} not run",
            self.kernel, self.device
        )
    }
}
