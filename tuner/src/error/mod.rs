//! The errors that end a command, and their exit codes.

pub mod code;

use std::path::{Path, PathBuf};

use kiln_exchange::curves::CurvesError;
use kiln_exchange::definition::DefinitionError;
use kiln_exchange::kernel_tuner::KernelTunerError;
use kiln_exchange::t1::T1Error;
use thiserror::Error;

use crate::compile_only::TargetError;
use crate::fleet::FleetError;
use crate::replay::ReplayError;
use crate::run::ForeignRecording;
use crate::space::NoExactCount;
use crate::tables::TableError;
use crate::task::TaskError;
use crate::watch::{NothingWatched, SavedError};
use kiln_lab::LabError;
use kiln_project::atomic_file::FileError;
use kiln_project::{ProjectError, TableFileError};
use kiln_spec::baked::StrictError;

pub use self::code::{DONE, FAILED, NO_DEVICE, OTHER_SOURCES, SHARED_GPU, TRY_AGAIN, USAGE};

/// A flag with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{flag} {value}: {reason}\nhelp: {help}")]
pub struct UsageError {
    /// The name of the flag.
    pub flag: &'static str,
    /// The value on the command line.
    pub value: String,
    /// Why the value is invalid.
    pub reason: String,
    /// The text of the `help:` line, which describes valid values.
    pub help: &'static str,
}

/// Why a device cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NoDevice {
    /// The target table does not contain the architecture.
    #[error(
        "there is no target `{arch}` (known: {})\nhelp: choose one of them; docs/targets.md says how to add one",
        .known.join(", ")
    )]
    Target {
        /// The requested architecture.
        arch: String,
        /// The architectures in the target table.
        known: Vec<&'static str>,
    },
    /// This machine has no device of the kind on which the kernels were saved.
    #[error(
        "nothing can be compared: the kernels were saved on {saved}, but this machine has {here}\n\
         help: compare on a machine of that kind, or save again here with `tune bench --save`"
    )]
    NothingToCompare {
        /// The devices on which the kernels were saved.
        saved: String,
        /// The devices of this machine.
        here: String,
    },
}

/// Why a command ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// The value of a flag is invalid.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// The kernels cannot be read.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The device does not exist.
    #[error(transparent)]
    NoDevice(NoDevice),
    /// A device, its compiler or the files of a run cannot be used.
    #[error(transparent)]
    Lab(Box<LabError>),
    /// A problem is not declared, a search space cannot be built, or nothing is stored for a problem.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// Nothing can be compiled for a target without a device.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A baked table cannot be read or written.
    #[error(transparent)]
    Table(Box<TableError>),
    /// `KILN_STRICT` has an unknown value.
    #[error(transparent)]
    Strict(#[from] StrictError),
    /// A recorded space cannot be searched or baked.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A search cannot start from a recording.
    #[error(transparent)]
    ForeignRecording(#[from] ForeignRecording),
    /// The search model does not have this setting.
    #[error(transparent)]
    Setting(#[from] kiln_search::UnknownSetting),
    /// The definition of a space cannot be used.
    #[error("{}: {error}", .path.display())]
    Definition {
        /// The path of the file.
        path: PathBuf,
        /// Why the file cannot be used.
        error: Box<DefinitionError>,
    },
    /// A space is too large for an exact number of configs.
    #[error(transparent)]
    NoExactCount(Box<NoExactCount>),
    /// Results cannot be written as a cache file of Kernel Tuner.
    #[error("{0}\nhelp: write `--format t4`")]
    KernelTuner(KernelTunerError),
    /// A kernel cannot be written as T1.
    #[error(
        "`{kernel}` cannot be written as T1: {error}\n\
         help: docs/search-space.md says what T1 can express; `--format t4` writes its results"
    )]
    T1 {
        /// The name of the kernel.
        kernel: String,
        /// Why the kernel cannot be written.
        error: Box<T1Error>,
    },
    /// A file does not contain curves of `tune replay`.
    #[error(
        "{} contains no curves: {error}\nhelp: `tune replay --curves FILE` writes them", .path.display()
    )]
    Curves {
        /// The path of the file.
        path: PathBuf,
        /// Why the file cannot be read.
        error: CurvesError,
    },
    /// A file does not contain profiles of `tune inspect --profile`.
    #[error(
        "{} contains no profiles: {error}\nhelp: `tune inspect --profile --json > FILE` writes them", .path.display()
    )]
    Profiles {
        /// The path of the file.
        path: PathBuf,
        /// Why the file cannot be read.
        error: serde_json::Error,
    },
    /// A file does not contain the state of a fleet's plan.
    #[error(
        "{} does not contain the state of a plan: {error}\n\
         help: `tune fleet status PLAN --store STORE --json > FILE` writes it", .path.display()
    )]
    PlanStatus {
        /// The path of the file.
        path: PathBuf,
        /// Why the file cannot be read.
        error: serde_json::Error,
    },
    /// A file with a recorded space cannot be used.
    #[error(transparent)]
    Recording(#[from] kiln_exchange::recording::RecordingError),
    /// The run to report does not exist.
    #[error(transparent)]
    RunNotFound(#[from] kiln_report::RunNotFound),
    /// The cache cannot be used.
    #[error(transparent)]
    Cache(#[from] kiln_cache::CacheError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file of saved kernels cannot be used.
    #[error("{}: {error}", .path.display())]
    Saved {
        /// The path of the file.
        path: PathBuf,
        /// Why the file cannot be used.
        error: SavedError,
    },
    /// `tune bench` or `tune compare` has no kernel to save or to compare.
    #[error(transparent)]
    NothingWatched(#[from] NothingWatched),
    /// A value cannot be written as JSON.
    #[error("cannot {doing}: {error}")]
    Json {
        /// The operation that failed, as a verb with its object.
        doing: &'static str,
        /// Why the operation failed.
        error: serde_json::Error,
    },
    /// The command would delete results, and the user has not confirmed the deletion.
    #[error(
        "this deletes every trial and winner in {}\nhelp: run `tune cache clear --yes` to delete them",
        .folder.display()
    )]
    NotConfirmed {
        /// The folder of the cache.
        folder: PathBuf,
    },
    /// A disk is full.
    #[error(
        "a disk is full: {0}\nhelp: make room there, or put the cache on another disk with KILN_CACHE, and run again; what was found so far is kept"
    )]
    DiskFull(String),
    /// A plan cannot be created, worked on or merged, or results cannot be shared.
    #[error(transparent)]
    Fleet(Box<FleetError>),
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Failure {
        match error {
            LabError::Cache(error) => Failure::Cache(error),
            LabError::File(error) => Failure::File(error),
            error => Failure::Lab(Box::new(error)),
        }
    }
}

impl From<NoExactCount> for Failure {
    fn from(error: NoExactCount) -> Failure {
        Failure::NoExactCount(Box::new(error))
    }
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Failure {
        Failure::Fleet(Box::new(error))
    }
}

impl From<TableFileError> for Failure {
    fn from(error: TableFileError) -> Failure {
        match error {
            TableFileError::File(error) => Failure::File(error),
            error => Failure::from(TableError::File(error)),
        }
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Failure {
        Failure::Table(Box::new(error))
    }
}

/// The exit code for an error of a device.
fn code_of(error: &LabError) -> u8 {
    match error {
        LabError::NoDevice(_) | LabError::NoClock(_) => NO_DEVICE,
        LabError::NamedTwice(_) => USAGE,
        LabError::SharedGpu(_) => SHARED_GPU,
        _ => FAILED,
    }
}

impl Failure {
    /// The exit code of the command that fails with this error.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => USAGE,
            Failure::NoDevice(_) => NO_DEVICE,
            Failure::Lab(error) => code_of(error),
            Failure::Fleet(error) => error.code(),
            _ => FAILED,
        }
    }

    /// Returns a closure for `map_err` that reports a value that cannot be written as JSON.
    pub fn json(doing: &'static str) -> impl FnOnce(serde_json::Error) -> Failure {
        move |error| Failure::Json { doing, error }
    }

    /// Returns a closure for `map_err` that reports a failed operation on a file.
    pub fn file(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
        let error = FileError::of(doing, path);
        move |cause| Failure::File(error(cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet_of_other_version() -> Failure {
        Failure::from(FleetError::OtherVersion {
            found: "1".into(),
            planned: "2".into(),
        })
    }

    #[test]
    fn each_failure_has_the_exit_code_that_is_documented() {
        let usage = UsageError {
            flag: "--budget",
            value: "5".into(),
            reason: "a number needs a unit".into(),
            help: "write a time",
        };
        let codes = [
            (Failure::NotConfirmed { folder: "x".into() }, 1),
            (Failure::DiskFull("x".into()), 1),
            (Failure::Usage(usage), 2),
            (
                Failure::NoDevice(NoDevice::NothingToCompare {
                    saved: "x".into(),
                    here: "y".into(),
                }),
                3,
            ),
            (LabError::SharedGpu("x".into()).into(), 4),
            (fleet_of_other_version(), 6),
        ];
        for (failure, code) in codes {
            assert_eq!(failure.code(), code, "{failure:?}");
        }
    }
}
