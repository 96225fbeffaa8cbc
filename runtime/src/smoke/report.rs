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
    /// The device on which it ran.
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
    /// The device on which it was tuned; `None` for the baseline.
    pub tuned_on: Option<String>,
    /// The problem for which it was launched, or would have been.
    pub problem: Problem,
    /// The simulated GPU on which it was launched (`sim:sm_89`); `None` if it was the device of the report.
    pub simulated_on: Option<String>,
    /// Why the row of an absent GPU was not launched on a simulation of it, if that was requested.
    pub not_simulated: Option<String>,
    /// Its result.
    pub outcome: CheckOutcome,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub enum CheckOutcome {
    /// Receipt, symbol, plan and outputs are as intended.
    Passed {
        /// The launch plan.
        plan: LaunchPlan,
        /// The largest error of any output, as a fraction of its bound; `None` if there is nothing to compare with.
        max_error_ratio: Option<f64>,
        /// The standard with which the outputs were compared.
        compared_with: ComparedWith,
        /// Why no check build ran in other orders of threads, if the device is the cpu, which supports check builds.
        not_checked: Option<String>,
    },
    /// This device cannot launch it.
    NotRun {
        /// The reason.
        why: String,
    },
    /// Something is not as intended.
    Failed(Failure),
}

/// A difference from the intended launch.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// The input data cannot be generated.
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
    /// The device's receipt is not that of the intended launch.
    #[error(transparent)]
    Receipt(#[from] ReceiptMismatch),
    /// The launch function used another symbol than the row's.
    #[error("the launch function launched `{found}`, the row says `{expected}`")]
    Symbol {
        /// The symbol in the row's literal.
        expected: String,
        /// The launched symbol.
        found: String,
    },
    /// The launch function computed another plan than the one of the spec, or than the row's literal.
    #[error("{what}: the plan is {found}, it should be {expected}")]
    Plan {
        /// Which plan.
        what: &'static str,
        /// The plan of the spec, or the row's literal.
        expected: LaunchPlan,
        /// The computed plan.
        found: LaunchPlan,
    },
    /// The launch function did not launch exactly once.
    #[error("the launch function launched {launches} times instead of once")]
    Launches {
        /// The number of launches.
        launches: usize,
    },
    /// An output differs from the reference.
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
    /// The two entries do not do the same.
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
            simulated_on: None,
            not_simulated: None,
            outcome,
        }
    }

    /// The same, launched on a simulated GPU.
    pub(super) fn on(self, simulated: String) -> Check {
        Check {
            simulated_on: Some(simulated),
            ..self
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

    /// The failure, if there is one.
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

    /// The number of checks that passed, failed and did not run.
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
        write!(f, " {} for {}", self.config, self.problem)?;
        if let Some(device) = &self.simulated_on {
            write!(f, " on {device}")?;
        }
        write!(f, ": ")?;
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
                if let Some(why) = not_checked {
                    write!(f, "; not checked for races and bounds: {why}")?;
                }
            }
            CheckOutcome::NotRun { why } => write!(f, "not run: {why}")?,
            CheckOutcome::Failed(failure) => write!(f, "FAILED: {failure}")?,
        }
        match &self.not_simulated {
            None => Ok(()),
            Some(why) => write!(f, "; its GPU was not simulated: {why}"),
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
