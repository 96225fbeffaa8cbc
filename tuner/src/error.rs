//! Exit codes, and the errors that end a command.

use thiserror::Error;

use crate::atomic_file::without_path;
use crate::project::ProjectError;
use crate::tables::TableError;

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
    #[error("{0}")]
    NoDevice(String),
    /// Somebody else computes on the device.
    #[error(
        "{0}\nhelp: wait until it finishes, choose another device, or pass --allow-shared-gpu to measure anyway"
    )]
    SharedGpu(String),
    /// A table cannot be read or written.
    #[error(transparent)]
    Table(#[from] TableError),
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
        path: std::path::PathBuf,
        /// What the system says.
        error: std::io::Error,
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
    /// Anything else, with its own help.
    #[error("{0}")]
    Other(String),
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

    /// For `map_err`: a failed file operation.
    pub fn file(
        doing: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(std::io::Error) -> Failure {
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
            (Failure::Other("x".into()), 1),
            (Failure::DiskFull("x".into()), 1),
            (Failure::Usage(usage), 2),
            (Failure::NoDevice("x".into()), 3),
            (Failure::SharedGpu("x".into()), 4),
        ];
        for (failure, code) in codes {
            assert_eq!(failure.code(), code, "{failure:?}");
        }
    }
}
