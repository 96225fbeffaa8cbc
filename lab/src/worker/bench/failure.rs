//! Converts the errors of a bench to the outcome of the candidate. Only the worker decides the outcome. All later code,
//! up to the journal, passes the [`Outcome`] on unchanged.

use std::io;
use std::path::Path;

use kiln::device::{DeviceError, ErrorClass};
use kiln::rig::{self, RigError};
use kiln_cache::Outcome;
use kiln_cache::record::{Against, MaxError, Real, all_lines};

use crate::candidate::outcome::{internal, of_io_error};

/// The outcome of a failed candidate, and the index of its arm if the failure can be attributed to one arm.
pub(in crate::worker) type ArmFailure = (Option<usize>, Outcome);

/// The outcome of a candidate whose rig failed with this error.
pub(in crate::worker) fn outcome_of(error: RigError) -> Outcome {
    match error {
        RigError::Incorrect { worst, against } => Outcome::Incorrect(MaxError {
            output: worst.output.into(),
            index: worst.index,
            got: Real(worst.got),
            want: Real(worst.want),
            error: Real(worst.error),
            bound: Real(worst.bound),
            against: match against {
                rig::ExpectedSource::Reference => Against::Reference,
                rig::ExpectedSource::ReferenceEntry => Against::ReferenceEntry,
                rig::ExpectedSource::Baseline => Against::Baseline,
            },
            inputs: None,
        }),
        RigError::NotANumber { output, index } => Outcome::NotANumber {
            output,
            index,
            inputs: None,
        },
        RigError::Unwritten {
            output,
            index,
            count,
            len,
        } => Outcome::Unwritten {
            output,
            index,
            count,
            len,
            inputs: None,
        },
        RigError::ReadsOutput { output, index } => Outcome::ReadsOutput { output, index },
        RigError::Unjudged(unjudged) => Outcome::NotComparable {
            text: unjudged.to_string(),
        },
        RigError::GuardHit { argument } => Outcome::GuardHit { output: argument },
        RigError::InputChanged { argument } => Outcome::InputChanged { arg: argument },
        RigError::Device(error) => of_device_error(error),
        other => internal(other),
    }
}

/// The outcome of a candidate whose device failed with this error.
pub(super) fn of_device_error(error: DeviceError) -> Outcome {
    let text = all_lines(&error.to_string());
    match error {
        DeviceError::Oom { wanted_bytes, .. } => Outcome::OutOfMemory {
            needed_bytes: Some(wanted_bytes),
        },
        DeviceError::KernelFault { text, .. } => Outcome::KernelFault {
            text: all_lines(&text),
        },
        DeviceError::Hang { after_ns, .. } => Outcome::TimedOut { limit_ns: after_ns },
        DeviceError::Load { .. } => Outcome::LaunchRefused { reason: text },
        error => match error.class() {
            ErrorClass::LaunchRefused | ErrorClass::Unsupported => {
                Outcome::LaunchRefused { reason: text }
            }
            // The device context cannot be used again, so the worker process cannot be used again either.
            ErrorClass::Sticky | ErrorClass::DeviceLost => Outcome::WorkerLost {
                signal: None,
                detail: text,
            },
            _ => Outcome::Internal { message: text },
        },
    }
}

/// Returns a closure for `map_err` that turns the error of an operation on `path` into an outcome.
pub(super) fn of_file(path: &Path) -> impl FnOnce(io::Error) -> Outcome {
    move |error| of_io_error(path, &error)
}
