//! Errors of devices and compilers, of reference entries, of check builds, and of problems that are too large.

use std::io;
use std::path::PathBuf;

use kiln::DeviceError;
use kiln::compiler::CompileError;
use kiln_cache::{CacheError, Outcome};
use kiln_spec::PlanError;
use thiserror::Error;

use kiln_project::atomic_file::{FileError, without_path};

/// Why a device, its compiler or the files of a run cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LabError {
    /// No device has the specified name.
    #[error("{0}\nhelp: run `tune devices` to list the devices of this machine")]
    NoDevice(DeviceError),
    /// The device is simulated, and the command times launches.
    #[error(
        "`{0}` is simulated and has no clock: nothing can be timed on it\nhelp: `tune smoke --device {0}` executes the baked \
         rows and checks them; measure on the GPU itself"
    )]
    NoClock(String),
    /// The command line specifies a device twice.
    #[error("--device {0}: named twice\nhelp: name each device once")]
    NamedTwice(String),
    /// The device does not open, or a call to its driver failed.
    #[error(transparent)]
    Device(DeviceError),
    /// The device's compiler is not installed.
    #[error("{error}{}", or_help(.error, "check the cache folder and the free disk space"))]
    NoCompiler {
        /// The compiler's error, which names the missing part.
        error: CompileError,
    },
    /// Another process computes on the device.
    #[error(
        "{0}\nhelp: wait until it finishes, choose another device, or pass --allow-shared-gpu to measure anyway"
    )]
    SharedGpu(String),
    /// The system cannot create threads.
    #[error("cannot start {what}: {error}")]
    Threads {
        /// The purpose of the threads.
        what: &'static str,
        /// The error of the operating system.
        error: rayon::ThreadPoolBuildError,
    },
    /// There is no place for temporary files.
    #[error(
        "cannot create a folder for temporary files in {}: {}\nhelp: set TMPDIR to a writable folder",
        .folder.display(), without_path(.error)
    )]
    NoTemporaryFolder {
        /// The system's folder for temporary files.
        folder: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The cache cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// `help`, formatted as a help line; empty if the error already has a help line.
fn or_help(error: &CompileError, help: &str) -> String {
    match error.to_string().contains("\nhelp: ") {
        true => String::new(),
        false => format!("\nhelp: {help}"),
    }
}

/// The entry that the spec specifies as the reference cannot be launched.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the reference entry `{entry}` does not work: {outcome}\n\
     help: outputs are compared with it: it must compile and be launched like the baseline"
)]
pub struct OracleError {
    /// The reference entry.
    pub entry: String,
    /// Why the reference entry cannot be launched.
    pub outcome: Outcome,
}

/// Why a candidate is not checked in a check build.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotChecked {
    /// The fake device compiles nothing.
    #[error("the fake device runs no source")]
    Fake,
    /// The cpu device does not open.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The cpu device has no compiler.
    #[error(transparent)]
    Compiler(#[from] CompileError),
    /// The spec excludes the cpu device.
    #[error("{why}")]
    LeftOut {
        /// The reason that the spec gives.
        why: String,
    },
    /// The tuned problem would take too long on the cpu, and the kernel has no small problems.
    #[error("it has only its tuned problem; declare small ones with `verify(..)`")]
    NoSmallProblem,
    /// The constraints exclude the config on every small problem.
    #[error("no small problem is valid for this config")]
    NoSmallForConfig,
    /// The check build of the candidate or the baseline failed, but not because the candidate is wrong. For example,
    /// the source does not compile for the cpu.
    #[error("{0}")]
    Outcome(Outcome),
    /// The cpu device has no reference to compare the outputs with.
    #[error(transparent)]
    Oracle(#[from] OracleError),
}

/// Why the data of a problem does not fit a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FootprintError {
    /// The size of the data cannot be computed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The data is larger than the available memory.
    #[error("its data takes {bytes} bytes, but the device has room for {room}")]
    TooLarge {
        /// The size of the data, in bytes.
        bytes: u64,
        /// Nine tenths of the device's memory, in bytes.
        room: u64,
    },
}
