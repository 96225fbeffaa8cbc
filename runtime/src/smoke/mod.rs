//! Smoke tests, which prove that every baked row and the baseline launch as intended.
//!
//! A smoke test launches every baked row (one tuned config for one problem on one device), including rows that were
//! tuned for other devices. It launches them on the current device or on a simulation of the row's GPU. It bypasses row
//! selection and calls the generated launch function, as programs do. The device records the launch in a
//! [`Receipt`](crate::receipt::Receipt). Nothing is timed. The test compares:
//!
//! - the receipt and the launched symbol with the row
//! - the launch plan with the spec and with the row
//! - the outputs with those of the reference or, if there is no reference, with those of the baseline
//!
//! The generated test runs its launches in a child process of the same test binary, with a deadline. If a launch
//! crashes or hangs, the test fails and reports which launch it was.

mod check;
mod compared_with;
mod expected;
mod orders;
mod problem;
mod report;
mod stand_in;
mod worker;

use kiln_spec::verification::problems_of_other_types;
use kiln_spec::{Backend, Problem};

pub use compared_with::ComparedWith;
pub use report::{Check, CheckOutcome, Failure, SmokeReport};
pub use worker::{deadline_of_user, test};

use crate::data::unusual;
use crate::device::{Device, DeviceError};
use crate::kernel::Kernel;
use crate::selection::Choice;
use stand_in::StandIn;

/// The options of smoke tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmokeOptions {
    /// The seed of the inputs and the nonces.
    pub seed: u64,
    /// Maximum work of a launch. It limits three numbers: the declared operations, the declared bytes, and the bytes of
    /// all slices. If a row's own problem exceeds it, a small verification problem is launched instead.
    pub max_work: u64,
    /// Whether to launch rows of absent GPUs on simulations of these GPUs instead of on the cpu device. This needs
    /// the feature `sim`, the compiler for the GPU, and a simulator that implements the row's instructions. Other
    /// rows run on the cpu device.
    pub simulate_absent: bool,
}

impl Default for SmokeOptions {
    fn default() -> Self {
        SmokeOptions {
            seed: 1,
            max_work: 200_000_000,
            simulate_absent: false,
        }
    }
}

/// Launches the baseline and every baked row of a kernel on a device, and reports the results.
///
/// `before` is called before each launch, so that a crash can be attributed to a launch.
pub fn run(
    kernel: &'static Kernel,
    device: &Device,
    options: &SmokeOptions,
    mut before: impl FnMut(Choice, &Problem),
) -> SmokeReport {
    run_numbered(kernel, device, options, |_, choice, problem| {
        before(choice, problem);
    })
}

/// Like [`run`]; `before` also receives the number of the launch.
fn run_numbered(
    kernel: &'static Kernel,
    device: &Device,
    options: &SmokeOptions,
    mut before: impl FnMut(usize, Choice, &Problem),
) -> SmokeReport {
    let checks = choices(kernel)
        .into_iter()
        .enumerate()
        .map(|(number, (choice, like))| {
            let options = of_launch(options, number);
            let mut before = |choice, problem: &Problem| before(number, choice, problem);
            launch(kernel, device, choice, &like, &options, &mut before)
        })
        .collect();
    SmokeReport {
        kernel: kernel.name().into(),
        device: device.info().key.to_string(),
        checks,
    }
}

/// The options of the launch with this number.
fn of_launch(options: &SmokeOptions, number: usize) -> SmokeOptions {
    let seed = options.seed.wrapping_mul(1_000_003);
    SmokeOptions {
        seed: seed.wrapping_add(number as u64) & !unusual::ANY,
        ..*options
    }
}

/// The fault that a check build on the cpu device finds in the launch with this number of [`run_numbered`], which
/// ended the process. `None` if it finds none.
fn fault_of_launch(
    kernel: &'static Kernel,
    device: &Device,
    options: &SmokeOptions,
    number: usize,
) -> Option<Failure> {
    let (choice, like) = choices(kernel).into_iter().nth(number)?;
    let options = of_launch(options, number);
    let problem = problem::choose(kernel, device, choice, &like, &options).ok()?;
    orders::fault(kernel, device, choice, &problem, options.seed)
}

/// Launches one choice on a device and reports the result. Programs can call it to check their launches at start-up.
/// For the baseline of a kernel with type parameters, the element types are those of the first problem.
///
/// # Panics
/// If the row does not exist.
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
    launch(kernel, device, choice, &like, options, &mut |_, _| {})
}

/// Launches a choice on the device, or on a simulation of the GPU for which the row was tuned.
fn launch(
    kernel: &'static Kernel,
    device: &Device,
    choice: Choice,
    like: &Problem,
    options: &SmokeOptions,
    before: &mut dyn FnMut(Choice, &Problem),
) -> Check {
    let stand_in = match options.simulate_absent {
        true => stand_in::of(kernel, choice, device),
        false => None,
    };
    let not_simulated = match stand_in {
        Some(StandIn::Simulation(simulated)) => {
            let options = stand_in::options(options);
            let check = launch_on(kernel, &simulated, choice, like, &options, before);
            match stand_in::out_of_reach(&check) {
                None => return check.on(crate::device::devices::name_of(&*simulated)),
                why => why,
            }
        }
        Some(StandIn::Missing(why)) => Some(why),
        None => None,
    };
    Check {
        not_simulated,
        ..launch_on(kernel, device, choice, like, options, before)
    }
}

fn launch_on(
    kernel: &'static Kernel,
    device: &Device,
    choice: Choice,
    like: &Problem,
    options: &SmokeOptions,
    before: &mut dyn FnMut(Choice, &Problem),
) -> Check {
    match problem::choose(kernel, device, choice, like, options) {
        Err(why) => Check::not_run(kernel, choice, like.clone(), why.to_string()),
        Ok(problem) => {
            before(choice, &problem);
            check::check(kernel, device, choice, problem, options.seed)
        }
    }
}

/// The choices to launch, each with its problem: first the baseline for each combination of element types, then every
/// row.
fn choices(kernel: &'static Kernel) -> Vec<(Choice, Problem)> {
    let mut seen = Vec::new();
    let mut choices = Vec::new();
    let others = problems_of_other_types(kernel.spec());
    for problem in kernel.spec().problems.iter().chain(&others) {
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

/// Opens a device for smoke tests, like [`crate::open`]. The cpu device gets the largest limits that it supports, so
/// that it can run rows of other devices.
///
/// # Errors
/// The errors of [`crate::open`].
pub fn open(name: &str) -> Result<Device, DeviceError> {
    if name == Backend::Cpu.name() {
        return crate::device::devices::cpu_with_raised_limits();
    }
    crate::open(name)
}
