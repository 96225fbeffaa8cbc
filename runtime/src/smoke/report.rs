//! The report of a kernel's smoke tests.

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
    /// The name of the kernel.
    pub kernel: String,
    /// The device on which the smoke tests ran.
    pub device: String,
    /// One check for the baseline with each combination of element types, then one check for each baked row (one
    /// tuned config for one problem on one device).
    pub checks: Vec<Check>,
}

/// The check of one choice, which is the baseline or a baked row. There is a check even if the choice could not be
/// launched.
#[derive(Clone, Debug)]
pub struct Check {
    /// The baseline or a baked row.
    pub choice: Choice,
    /// The config of the choice.
    pub config: Config,
    /// The device on which the row was tuned; `None` for the baseline.
    pub tuned_on: Option<String>,
    /// The problem for which the choice was launched, or would have been launched.
    pub problem: Problem,
    /// The simulated GPU on which the choice was launched (`sim:sm_89`); `None` if it was launched on the device of
    /// the report.
    pub simulated_on: Option<String>,
    /// The reason why the row of an absent GPU was not launched on a simulation. `None` if it was launched there, if no
    /// simulation was requested, if this build has no simulator, or if the choice is not a row of an absent GPU.
    pub not_simulated: Option<String>,
    /// The result of the check.
    pub outcome: CheckOutcome,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub enum CheckOutcome {
    /// Receipt, symbol, plan and outputs are as intended.
    Passed {
        /// The launch plan.
        plan: LaunchPlan,
        /// The largest error of any output, as a fraction of its bound; `None` if nothing was compared.
        max_error_ratio: Option<f64>,
        /// The standard with which the outputs were compared.
        compared_with: ComparedWith,
        /// The reason why no check build ran in several thread orders. `None` if one ran, or if the device is not the
        /// cpu device.
        not_checked: Option<String>,
        /// What is right on this device, but not on every GPU, for example a barrier that some threads returned before.
        remark: Option<String>,
    },
    /// This device cannot launch the choice.
    NotRun {
        /// The reason.
        why: String,
    },
    /// The launch was not as intended.
    Failed(Failure),
}

/// The way in which a launch differed from the intended launch.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// The input data cannot be generated.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The entry cannot be compiled or loaded.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The launch function or the device refused the launch.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The device failed outside a launch.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A launch outside the launch function failed.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The device's receipt does not match the intended launch.
    #[error(transparent)]
    Receipt(#[from] ReceiptMismatch),
    /// The launched symbol is not the symbol in the generated code.
    #[error("the launch function launched `{found}`, but the row says `{expected}`")]
    Symbol {
        /// The symbol in the generated code.
        expected: String,
        /// The launched symbol.
        found: String,
    },
    /// The launch function computed a launch plan that differs from the spec's plan or from the plan in the generated
    /// code.
    #[error("{what}: the plan is {found}, but should be {expected}")]
    Plan {
        /// Which plan differs.
        what: &'static str,
        /// The plan of the spec, or the plan in the generated code.
        expected: LaunchPlan,
        /// The plan that was computed.
        found: LaunchPlan,
    },
    /// The launch function did not launch exactly once.
    #[error("the launch function launched {launches} times instead of once")]
    Launches {
        /// The number of launches.
        launches: usize,
    },
    /// An output differs from the expected output.
    #[error("{error} ({entry})")]
    Output {
        /// How the kernel was launched: as programs launch it, or with a receipt.
        entry: &'static str,
        /// The element with the largest error.
        error: WorstElement,
    },
    /// The kernel changed an input.
    #[error("the input `{argument}` was changed ({entry})")]
    InputChanged {
        /// How the kernel was launched: as programs launch it, or with a receipt.
        entry: &'static str,
        /// The name of the input.
        argument: String,
    },
    /// The release entry and the receipt entry do not write the same elements.
    #[error(
        "the release and the receipt entry are not the same kernel: in a launch of one block they write different \
         elements of `{argument}`, first at element {element}"
    )]
    Footprint {
        /// The name of the output.
        argument: String,
        /// The first element that only one of the entries writes.
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

    /// Marks the check as launched on a simulated GPU.
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

    /// The failure; `None` if the check passed or did not run.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.outcome {
            CheckOutcome::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}

impl SmokeReport {
    /// Whether no check failed.
    pub fn passed(&self) -> bool {
        self.failures().next().is_none()
    }

    /// The checks that failed. Checks that did not run are not included.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.failure().is_some())
    }

    /// The numbers of checks that passed, that failed, and that did not run.
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
                remark,
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
                if let Some(remark) = remark {
                    write!(f, "; note: {remark}")?;
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
