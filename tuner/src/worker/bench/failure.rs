//! What the errors of a bench mean for the candidate.

use kiln::device::{DeviceError, ErrorClass};
use kiln::rig::RigError;

use crate::worker::protocol::Failure;

/// A failure, and the arm it belongs to where one can be named.
pub(in crate::worker) type ArmFailure = (Option<usize>, Failure);

/// What an error of a rig means for the candidate.
pub(super) fn failure_of(error: RigError) -> Failure {
    match error {
        RigError::Incorrect(worst) => Failure::Incorrect {
            output: worst.output,
            index: worst.index,
            got: worst.got,
            want: worst.want,
            error: worst.error,
            bound: worst.bound,
        },
        RigError::NotANumber { output, index } => Failure::NotANumber { output, index },
        RigError::GuardHit { argument } => Failure::GuardHit { output: argument },
        RigError::InputChanged { argument } => Failure::InputChanged { arg: argument },
        RigError::Device(DeviceError::Oom { wanted_bytes, .. }) => Failure::OutOfMemory {
            needed_bytes: Some(wanted_bytes),
        },
        RigError::Device(error) => match error.class() {
            ErrorClass::LaunchRefused | ErrorClass::Unsupported => {
                Failure::LaunchRefused(error.to_string())
            }
            ErrorClass::Sticky | ErrorClass::Hang | ErrorClass::DeviceLost => {
                Failure::Sticky(error.to_string())
            }
            ErrorClass::Invalid => Failure::Faulted(error.to_string()),
            _ => Failure::Internal(error.to_string()),
        },
        other => Failure::Internal(other.to_string()),
    }
}
