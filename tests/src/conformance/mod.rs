//! A test suite for every device. It checks the promises of `docs/adding-a-backend.md` through the traits only.
//!
//! A check is a function that fails with an error or a panic. [`DIFFERENCES`] lists the checks that a device fails by
//! design. Such a check must fail, so an outdated entry is noticed.

mod kernels;
mod launches;
mod memory;
mod modules;
mod recording;
mod streams;
mod timing;

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

use kiln::prepare::{self, Prepared};
use kiln::spec::Problem;
use kiln::spec::codegen::TranslationUnit;
use kiln::{Choice, Device, Kernel, Stream};

/// The result of a check.
pub type Outcome = Result<(), Box<dyn Error>>;

/// The check of one promise.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The promise, as a sentence in snake case.
    pub name: &'static str,
    run: fn(&Subject) -> Outcome,
}

/// The device under test.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The device.
    pub device: Device,
    /// The default stream of the device.
    pub stream: Stream,
}

/// Intended differences: the family of the device, the name of the check, and the reason.
pub const DIFFERENCES: &[(&str, &str, &str)] = &[
    (
        "fake",
        "static_and_dynamic_shared_memory_together_are_limited",
        "it compiles nothing, so it knows no static shared memory",
    ),
    (
        "fake",
        "an_image_that_was_damaged_is_refused",
        "its images are texts, of which it reads a few lines",
    ),
    (
        "fake",
        "recorded_launches_run_when_replayed_and_not_before",
        "it records nothing",
    ),
    (
        "fake",
        "a_recording_holds_launches_only_and_its_stream_goes_on",
        "it records nothing",
    ),
    (
        "fake",
        "memory_of_a_recording_outlives_its_owner",
        "it records nothing",
    ),
    (
        "fake",
        "a_recording_is_launched_from_two_threads",
        "it records nothing",
    ),
    (
        "fake",
        "occupancy_falls_with_shared_memory",
        "it has no multiprocessors",
    ),
    (
        "cpu",
        "recorded_launches_run_when_replayed_and_not_before",
        "its launches run at once; there is nothing to save",
    ),
    (
        "cpu",
        "a_recording_holds_launches_only_and_its_stream_goes_on",
        "it records nothing",
    ),
    (
        "cpu",
        "memory_of_a_recording_outlives_its_owner",
        "it records nothing",
    ),
    (
        "cpu",
        "a_recording_is_launched_from_two_threads",
        "it records nothing",
    ),
    (
        "cpu",
        "occupancy_falls_with_shared_memory",
        "a core runs one block at a time",
    ),
    (
        "cpu",
        "a_stream_that_was_closed_is_an_error",
        "all its streams are one, which is never closed",
    ),
    (
        "fake",
        "a_stream_that_was_closed_is_an_error",
        "it does everything at once, whatever the stream",
    ),
    (
        "sim",
        "occupancy_falls_with_shared_memory",
        "it executes a block at a time on each core",
    ),
    (
        "sim",
        "a_stream_that_was_closed_is_an_error",
        "it does everything at once, whatever the stream",
    ),
    (
        "sim",
        "timing_launches_exactly_as_often_as_it_says",
        "it has no clock",
    ),
    (
        "sim",
        "timed_launches_take_the_sets_of_data_in_turn",
        "it has no clock",
    ),
    (
        "sim",
        "time_grows_with_the_number_of_launches",
        "it has no clock",
    ),
    (
        "sim",
        "time_grows_with_the_work_of_a_launch",
        "it has no clock",
    ),
    (
        "sim",
        "recorded_launches_run_when_replayed_and_not_before",
        "its launches run at once; there is nothing to save",
    ),
    (
        "sim",
        "a_recording_holds_launches_only_and_its_stream_goes_on",
        "it records nothing",
    ),
    (
        "sim",
        "memory_of_a_recording_outlives_its_owner",
        "it records nothing",
    ),
    (
        "sim",
        "a_recording_is_launched_from_two_threads",
        "it records nothing",
    ),
];

/// All checks, in the order of the files.
pub fn suite() -> Vec<Check> {
    [
        memory::CHECKS,
        modules::CHECKS,
        launches::CHECKS,
        streams::CHECKS,
        timing::CHECKS,
        recording::CHECKS,
    ]
    .concat()
}

/// Runs the whole suite, and returns a message for each failure. `open` is called before each check. It must return a
/// new device if a check may break the device.
pub fn failures(open: impl Fn() -> Device) -> Vec<String> {
    let checks = suite().into_iter();
    checks.filter_map(|check| check.verdict(open())).collect()
}

/// Runs one check on a device, and returns its failure, if any.
pub fn failure(name: &str, device: Device) -> Option<String> {
    match suite().into_iter().find(|check| check.name == name) {
        Some(check) => check.verdict(device),
        None => Some(format!("there is no check `{name}`")),
    }
}

/// The name of the device's backend, or `sim` for a simulated device.
fn family(device: &Device) -> &'static str {
    match device.info().is_simulated {
        true => "sim",
        false => device.info().key.backend.name(),
    }
}

impl Check {
    /// Whether the check times launches, which launches of other processes would disturb.
    pub fn times_launches(&self) -> bool {
        timing::CHECKS.iter().any(|check| check.name == self.name)
    }

    /// The unexpected failure of the check on a device, if any. If the device fails the check by design, passing is the
    /// failure.
    fn verdict(&self, device: Device) -> Option<String> {
        let family = family(&device);
        let differs = DIFFERENCES
            .iter()
            .find(|(of, name, _)| *of == family && *name == self.name);
        match (self.failure(device), differs) {
            (Some(failure), None) => Some(format!("{}: {failure}", self.name)),
            (None, Some((_, name, why))) => Some(format!(
                "{name}: holds, although the table of differences says: {why}"
            )),
            (Some(failure), Some((_, name, why))) => {
                println!("differs by design: {name}: {why} ({failure})");
                None
            }
            (None, None) => {
                println!("holds: {}", self.name);
                None
            }
        }
    }

    /// The failure of the check on a device, if any.
    fn failure(&self, device: Device) -> Option<String> {
        let subject = Subject {
            stream: Stream::default_of(device.clone()),
            device,
        };
        let run = AssertUnwindSafe(|| (self.run)(&subject));
        match catch_unwind(run) {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                Some(text.unwrap_or_else(|| "it panics".into()))
            }
        }
    }
}

impl Subject {
    /// The loaded entries of a kernel's baseline for its first problem.
    fn prepared(&self, kernel: &'static Kernel) -> Result<&'static Prepared, Box<dyn Error>> {
        let problem = first_problem(kernel);
        Ok(prepare::get(
            kernel,
            &self.device,
            Choice::Baseline,
            &problem,
        )?)
    }

    /// The generated translation unit of a kernel's baseline.
    fn unit(&self, kernel: &'static Kernel) -> Result<TranslationUnit, Box<dyn Error>> {
        let backend = prepare::dialect(&self.device.info().key);
        let (problem, config) = (first_problem(kernel), kernel.config(Choice::Baseline));
        let entry = kernel.entry(Choice::Baseline);
        Ok(prepare::generate(
            kernel, entry, &config, &problem, backend,
        )?)
    }
}

/// The first declared problem of a kernel, or a problem without sizes if none is declared.
fn first_problem(kernel: &Kernel) -> Problem {
    let declared = kernel.spec().problems.first().cloned();
    declared.unwrap_or_else(|| Problem::new([]))
}

/// Lists the checks of a file. The name of a check is the name of its function.
macro_rules! checks {
    ($($check:ident,)*) => {
        /// The checks of this file.
        pub(super) const CHECKS: &[super::Check] = &[$(super::Check {
            name: stringify!($check),
            run: $check,
        },)*];
    };
}
use checks;
