//! Smoke tests: proof that every baked row, and the baseline, launches as intended.
//!
//! Each row of every device is forced on the device at hand, through the same generated launch function that
//! programs call. The device itself writes what ran (a [`Receipt`](crate::receipt::Receipt)); that, the symbol, the
//! plan and the outputs must be what the row's literals, the spec and the reference say. Nothing here is timed.
//!
//! A generated test runs them in a child process of the same test binary, with a deadline, so that a crash or a
//! hang is a failure with a name.

mod check;
mod compared_with;
mod expected;
mod problem;
mod report;
mod worker;

use kiln_spec::{Backend, Problem};

pub use compared_with::ComparedWith;
pub use report::{Check, CheckOutcome, Failure, SmokeReport};
pub use worker::test;

use crate::device::{Device, DeviceError};
use crate::kernel::Kernel;
use crate::selection::Choice;

/// How smoke tests are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmokeOptions {
    /// Seed of inputs and nonces.
    pub seed: u64,
    /// A row's own problem is launched if its work is at most this many operations and bytes; else a
    /// verification problem.
    pub max_work: u64,
}

impl Default for SmokeOptions {
    fn default() -> Self {
        SmokeOptions {
            seed: 1,
            max_work: 200_000_000,
        }
    }
}

/// Launches the baseline and every baked row of a kernel on a device, and says what was proven.
///
/// `before` is told of each launch before it is made, so that a crash has a name.
pub fn run(
    kernel: &'static Kernel,
    device: &Device,
    options: &SmokeOptions,
    mut before: impl FnMut(Choice, &Problem),
) -> SmokeReport {
    let checks = choices(kernel)
        .into_iter()
        .enumerate()
        .map(|(number, (choice, like))| {
            let seed = options
                .seed
                .wrapping_mul(1_000_003)
                .wrapping_add(number as u64);
            match problem::choose(kernel, device, choice, &like, options) {
                Err(why) => Check::not_run(kernel, choice, like, why.to_string()),
                Ok(problem) => {
                    before(choice, &problem);
                    check::check(kernel, device, choice, problem, seed)
                }
            }
        })
        .collect();
    SmokeReport {
        kernel: kernel.name().into(),
        device: device.info().key.to_string(),
        checks,
    }
}

/// Launches one choice on a device and says what was proven: for programs that check what they launch when they
/// start. Of a baseline with type parameters, the types are those of the first problem.
///
/// # Panics
/// When there is no such row.
pub fn prove(
    kernel: &'static Kernel,
    device: &Device,
    choice: Choice,
    options: &SmokeOptions,
) -> Check {
    let like = match choice {
        Choice::Row(row) => kernel.row_problem(&kernel.rows()[row]),
        Choice::Baseline => kernel.spec().problems[0].clone(),
    };
    match problem::choose(kernel, device, choice, &like, options) {
        Err(why) => Check::not_run(kernel, choice, like, why.to_string()),
        Ok(problem) => check::check(kernel, device, choice, problem, options.seed),
    }
}

/// The baseline for each combination of element types, then every row; each with the problem it is about.
fn choices(kernel: &'static Kernel) -> Vec<(Choice, Problem)> {
    let mut seen = Vec::new();
    let mut choices = Vec::new();
    for problem in &kernel.spec().problems {
        let types = kernel.type_combination(problem);
        if !seen.contains(&types) {
            seen.push(types);
            choices.push((Choice::Baseline, problem.clone()));
        }
    }
    let rows = kernel.rows().iter().enumerate();
    choices.extend(rows.map(|(number, row)| (Choice::Row(number), kernel.row_problem(row))));
    choices
}

/// Opens a device for smoke tests: as [`crate::open`], with the cpu's limits raised so that other devices' rows
/// run on it.
///
/// # Errors
/// As [`crate::open`].
pub fn open(name: &str) -> Result<Device, DeviceError> {
    if name == Backend::Cpu.name() {
        return crate::device::devices::cpu_with_raised_limits();
    }
    crate::open(name)
}
