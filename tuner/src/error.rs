//! Exit codes, and the errors that end a command.

use std::path::{Path, PathBuf};

use kiln::DeviceError;
use kiln::compiler::CompileError;
use kiln_exchange::curves::CurvesError;
use kiln_exchange::definition::DefinitionError;
use kiln_exchange::kernel_tuner::KernelTunerError;
use kiln_exchange::t1::T1Error;
use thiserror::Error;

use crate::atomic_file::without_path;
use crate::compile_only::TargetError;
use crate::project::ProjectError;
use crate::replay::ReplayError;
use crate::run::ForeignRecording;
use crate::space::NoExactCount;
use crate::tables::TableError;
use crate::task::TaskError;
use crate::watch::{NothingWatched, SavedError};

/// Done.
pub const DONE: u8 = 0;
/// A check failed, or nothing valid was found.
pub const FAILED: u8 = 1;
/// The command line makes no sense.
pub const USAGE: u8 = 2;
/// There is no such device.
pub const NO_DEVICE: u8 = 3;
/// Somebody else computes on the device.
pub const SHARED_GPU: u8 = 4;

/// A flag whose value makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{flag} {value}: {reason}\nhelp: {help}")]
pub struct UsageError {
    /// The flag.
    pub flag: &'static str,
    /// What was given.
    pub value: String,
    /// Why it makes no sense.
    pub reason: String,
    /// What would.
    pub help: &'static str,
}

/// Why there is no such device.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NoDevice {
    /// None of that name.
    #[error("{0}\nhelp: run `tune devices` for what is here")]
    Name(DeviceError),
    /// No target of that architecture.
    #[error(
        "there is no target `{arch}` (known: {})\nhelp: choose one of them; docs/targets.md says how to add one",
        .known.join(", ")
    )]
    Target {
        /// The architecture asked for.
        arch: String,
        /// Those that exist.
        known: Vec<&'static str>,
    },
    /// None of the kind that kernels were saved on.
    #[error(
        "nothing can be compared: the file was saved on {saved}, and here is {here}\nhelp: compare on a machine of that kind, or \
         save again here with `tune bench --save`"
    )]
    NothingToCompare {
        /// The devices that the file was saved on.
        saved: String,
        /// Those that are here.
        here: String,
    },
}

/// `help:` of an error that has none of its own.
fn or_help(error: &CompileError, help: &str) -> String {
    match error.to_string().contains("\nhelp: ") {
        true => String::new(),
        false => format!("\nhelp: {help}"),
    }
}

/// Why a command ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// A flag makes no sense.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// The kernels cannot be read.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// There is no such device.
    #[error(transparent)]
    NoDevice(NoDevice),
    /// The device does not open.
    #[error(transparent)]
    Device(DeviceError),
    /// The device's compiler is not installed.
    #[error("{error}{}", or_help(.error, "check the cache folder and the free disk space"))]
    NoCompiler {
        /// What is missing.
        error: CompileError,
    },
    /// A problem is not declared, a space cannot be built, or nothing is stored.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// Nothing can be compiled for a target.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Somebody else computes on the device.
    #[error(
        "{0}\nhelp: wait until it finishes, choose another device, or pass --allow-shared-gpu to measure anyway"
    )]
    SharedGpu(String),
    /// A table cannot be read or written.
    #[error(transparent)]
    Table(Box<TableError>),
    /// A recorded space cannot be searched or baked.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A search cannot start from a recording.
    #[error(transparent)]
    ForeignRecording(#[from] ForeignRecording),
    /// A setting of the search model is none.
    #[error(transparent)]
    Setting(#[from] kiln_search::UnknownSetting),
    /// The definition of a space cannot be used.
    #[error("{}: {error}", .path.display())]
    Definition {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: Box<DefinitionError>,
    },
    /// A space is too large to be counted.
    #[error(transparent)]
    NoExactCount(Box<NoExactCount>),
    /// Results cannot be written for Kernel Tuner.
    #[error("{0}\nhelp: write `--format t4`")]
    KernelTuner(KernelTunerError),
    /// A kernel cannot be written as T1.
    #[error(
        "`{kernel}` cannot be written as T1: {error}\nhelp: docs/search-space.md says what T1 can hold; `--format t4` writes its results"
    )]
    T1 {
        /// The kernel.
        kernel: String,
        /// Why not.
        error: Box<T1Error>,
    },
    /// A file holds no curves.
    #[error(
        "{} holds no curves: {error}\nhelp: `tune replay --curves FILE` writes them", .path.display()
    )]
    Curves {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: CurvesError,
    },
    /// A recorded file cannot be used.
    #[error(transparent)]
    Recording(#[from] kiln_exchange::recording::RecordingError),
    /// There is no such run to report.
    #[error(transparent)]
    RunNotFound(#[from] kiln_report::RunNotFound),
    /// The cache cannot be used.
    #[error(transparent)]
    Cache(#[from] kiln_cache::CacheError),
    /// A file cannot be read or written.
    #[error(
        "cannot {doing} {}: {}\nhelp: check that the path is what it should be, its permissions and the free disk space",
        .path.display(), without_path(.error)
    )]
    File {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file of saved kernels cannot be used.
    #[error("{}: {error}", .path.display())]
    Saved {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: SavedError,
    },
    /// A command watches nothing.
    #[error(transparent)]
    NothingWatched(#[from] NothingWatched),
    /// A value cannot be written as JSON.
    #[error("cannot {doing}: {error}")]
    Json {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        error: serde_json::Error,
    },
    /// What deletes results was not confirmed.
    #[error(
        "this deletes every trial and winner in {}\nhelp: say `tune cache clear --yes` to go on",
        .folder.display()
    )]
    NotConfirmed {
        /// The cache.
        folder: PathBuf,
    },
    /// There is no room left on a disk.
    #[error(
        "a disk is full: {0}\nhelp: make room there, or put the cache on another disk with KILN_CACHE, and run again; what was found so far is kept"
    )]
    DiskFull(String),
    /// The system gives no threads.
    #[error("cannot start {what}: {error}")]
    Threads {
        /// What for.
        what: &'static str,
        /// What the system says.
        error: rayon::ThreadPoolBuildError,
    },
}

impl From<NoExactCount> for Failure {
    fn from(error: NoExactCount) -> Failure {
        Failure::NoExactCount(Box::new(error))
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Failure {
        Failure::Table(Box::new(error))
    }
}

impl Failure {
    /// The exit code it stands for.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => USAGE,
            Failure::NoDevice(_) => NO_DEVICE,
            Failure::SharedGpu(_) => SHARED_GPU,
            _ => FAILED,
        }
    }

    /// For `map_err`: a value that cannot be written as JSON.
    pub fn json(doing: &'static str) -> impl FnOnce(serde_json::Error) -> Failure {
        move |error| Failure::Json { doing, error }
    }

    /// For `map_err`: a failed file operation.
    pub fn file(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
        let path = path.to_owned();
        move |error| Failure::File { doing, path, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (Failure::SharedGpu("x".into()), 4),
        ];
        for (failure, code) in codes {
            assert_eq!(failure.code(), code, "{failure:?}");
        }
    }
}
