//! From what went wrong to the outcome that is stored.

use kiln::compiler::CompileError;
use kiln_cache::Outcome;
use kiln_cache::record::{MaxError, Real, one_line};
use kiln_spec::Hash;

use crate::measure::{Fault, FaultCause};
use crate::worker::{Failure, WorkerError};

/// The outcome of a config that does not compile.
pub fn of_compile_error(error: &CompileError) -> Outcome {
    match error {
        CompileError::TimedOut { deadline, .. } => Outcome::CompileTimedOut {
            limit_ns: u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX),
        },
        CompileError::Failed { log, .. } | CompileError::OutOfMemory { log, .. } => {
            Outcome::CompileFailed {
                first_line: one_line(&error.to_string()),
                log: Hash::of("compile log", log.as_bytes()),
            }
        }
        CompileError::Lost { how, crashed, .. } => Outcome::CompilerLost {
            how: one_line(how),
            crashed: *crashed,
        },
        CompileError::NotFound { .. } | CompileError::Io { .. } => Outcome::CompilerLost {
            how: one_line(&error.to_string()),
            crashed: false,
        },
        other => Outcome::Internal {
            message: one_line(&other.to_string()),
        },
    }
}

/// The outcome of a candidate whose worker failed.
pub fn of_worker_error(error: &WorkerError) -> Outcome {
    match error {
        WorkerError::Failed { failure, .. } => of_failure(failure),
        WorkerError::TimedOut(limit) => Outcome::TimedOut {
            limit_ns: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
        },
        WorkerError::Lost { signal, .. } => Outcome::WorkerLost { signal: *signal },
        other => Outcome::Internal {
            message: one_line(&other.to_string()),
        },
    }
}

/// The outcome of a failure that the worker named.
pub fn of_failure(failure: &Failure) -> Outcome {
    match failure.clone() {
        Failure::LaunchRefused(reason) => Outcome::LaunchRefused {
            reason: one_line(&reason),
        },
        Failure::OutOfMemory { needed_bytes } => Outcome::OutOfMemory { needed_bytes },
        Failure::Incorrect {
            output,
            index,
            got,
            want,
            error,
            bound,
        } => Outcome::Incorrect(MaxError {
            output,
            index,
            got: Real(got),
            want: Real(want),
            error: Real(error),
            bound: Real(bound),
        }),
        Failure::NotANumber { output, index } => Outcome::NotANumber { output, index },
        Failure::GuardHit { output } => Outcome::GuardHit { output },
        Failure::InputChanged { arg } => Outcome::InputChanged { arg },
        Failure::WrongLaunch { field, want, got } => Outcome::WrongLaunch { field, want, got },
        Failure::Sticky(_) => Outcome::WorkerLost { signal: None },
        Failure::Faulted(text) => Outcome::LaunchRefused {
            reason: one_line(&text),
        },
        Failure::Internal(message) => Outcome::Internal {
            message: one_line(&message),
        },
    }
}

/// The outcome of an arm that failed while it was timed.
pub fn of_fault(fault: &Fault) -> Outcome {
    match &fault.cause {
        FaultCause::TimedOut { limit_ns } => Outcome::TimedOut {
            limit_ns: *limit_ns,
        },
        FaultCause::WorkerLost(_) => Outcome::WorkerLost { signal: None },
        FaultCause::LaunchFailed(reason) => Outcome::LaunchRefused {
            reason: one_line(reason),
        },
        FaultCause::LimitsExceeded(_) => Outcome::OutOfMemory { needed_bytes: None },
        other => Outcome::Internal {
            message: one_line(&other.to_string()),
        },
    }
}
