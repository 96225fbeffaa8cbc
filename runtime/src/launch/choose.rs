//! Which choice (the baseline or a baked row) a launch uses for a problem, and whether the choice may be launched.

use kiln_spec::{DeviceLimits, Invalid, LaunchPlan, Problem, ProblemValue};

use crate::device::stream::Stream;
use crate::device::{Device, DeviceBackend};
use crate::kernel::Kernel;
use crate::launch::BEYOND;
use crate::launch::error::{LaunchCause, LaunchError};
use crate::prepare::prepared::Prepared;
use crate::prepare::{check_row, get_on};
use crate::selection::{Choice, Selection};

/// The selection for a problem: the forced choice, if the stream has one for this kernel, or else the selected
/// choice.
///
/// # Errors
/// If the forced choice is a row that the kernel does not have, or a row for other element types.
pub(super) fn selection_for(
    kernel: &'static Kernel,
    stream: &Stream,
    problem: &Problem,
) -> Result<Selection, LaunchCause> {
    let forced = stream
        .what_is_forced()
        .and_then(|forced| forced.choice_for(kernel));
    match forced {
        Some(choice) => {
            check_row(kernel, choice, problem)?;
            Ok(Selection::Forced { choice })
        }
        None => Ok(kernel.selection(stream.device(), problem)),
    }
}

/// Checks that no size exceeds 63 bits.
pub(super) fn check_sizes(problem: &Problem) -> Result<(), LaunchCause> {
    let beyond = |(_, value): &(_, _)| *value == ProblemValue::Size(BEYOND);
    match problem.iter().find(beyond) {
        Some((name, _)) => Err(LaunchCause::SizeTooLarge {
            argument: name.to_string(),
        }),
        None => Ok(()),
    }
}

/// Checks that the selected choice satisfies the constraints of the spec. [`resolve`] checks its launch geometry.
pub(super) fn check_constraints(
    kernel: &Kernel,
    problem: &Problem,
    selection: &Selection,
    limits: &DeviceLimits,
) -> Result<(), LaunchCause> {
    match selection {
        Selection::Baseline { .. } | Selection::Forced { .. } => {}
        // A row is selected only if it satisfies the constraints.
        _ => return Ok(()),
    }
    let choice = selection.choice();
    let Err(invalid @ (Invalid::Constraint { .. } | Invalid::Error { .. })) =
        kernel.check_choice(choice, problem, limits)
    else {
        return Ok(());
    };
    let (problem, invalid) = (problem.to_string(), Box::new(invalid));
    Err(match selection {
        Selection::Forced { .. } => LaunchCause::InvalidForced {
            choice,
            problem,
            invalid,
        },
        _ => LaunchCause::NoValidConfig { problem, invalid },
    })
}

/// The launch plan and the loaded entries of a choice for a problem.
pub(super) fn resolve(
    kernel: &'static Kernel,
    device: &dyn DeviceBackend,
    problem: &Problem,
    choice: Choice,
) -> Result<(LaunchPlan, &'static Prepared), LaunchCause> {
    let limits = &device.info().limits;
    let plan = kernel.plan(choice, problem, Some(limits))?;
    plan.check(limits)?;
    Ok((plan, get_on(kernel, device, choice, problem)?))
}

impl Kernel {
    /// Compiles and loads the entry that a launch on a device uses for a problem. Programs call it at start-up, so
    /// that no launch waits for a compiler. If the entry is already loaded, nothing is compiled.
    ///
    /// # Errors
    /// If a launch for this problem would fail before it looks at its arguments: if a size exceeds 63 bits, if a
    /// constraint excludes the problem, if the launch plan exceeds a limit of the device, if the program has no image
    /// and no compiler is found, or if loading or compiling fails.
    pub fn prepare(
        &'static self,
        device: &Device,
        problem: &Problem,
    ) -> Result<&'static Prepared, LaunchError> {
        self.check_and_prepare(device, problem)
            .map_err(|cause| LaunchError::new(self.name(), cause))
    }

    fn check_and_prepare(
        &'static self,
        device: &Device,
        problem: &Problem,
    ) -> Result<&'static Prepared, LaunchCause> {
        check_sizes(problem)?;
        let selection = self.selection(device, problem);
        let (choice, limits) = (selection.choice(), &device.info().limits);
        let is_empty = self.launches_nothing(choice, problem, limits);
        if !is_empty || !self.writes_nothing(choice, problem) {
            check_constraints(self, problem, &selection, limits)?;
        }
        if is_empty {
            // Such a problem has no launch plan, and launching it does nothing.
            return Ok(get_on(self, &**device, choice, problem)?);
        }
        let (_, prepared) = resolve(self, &**device, problem, choice)?;
        Ok(prepared)
    }
}
