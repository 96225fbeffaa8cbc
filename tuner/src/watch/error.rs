//! Errors of timing and comparing kernels for `tune bench` and `tune compare`.

use std::io;
use std::path::PathBuf;

use kiln::rig::ExpectedError;
use kiln_cache::Outcome;
use kiln_measure::roofline::AboveRoofline;
use kiln_measure::{Doubt, Fault};
use kiln_spec::diagnostic::Diagnostic;
use kiln_spec::source::SourceError;
use kiln_spec::{PlanError, TextError};
use thiserror::Error;

use kiln_lab::worker::WorkerError;
use kiln_lab::{FootprintError, OracleError};

/// Why a kernel cannot be timed or compared.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The kernel's data does not fit the device.
    #[error(transparent)]
    Footprint(#[from] FootprintError),
    /// The kernel's reference entry cannot be launched.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// The launch geometry of the baseline cannot be computed.
    #[error("the baseline: {0}")]
    BaselinePlan(PlanError),
    /// The baseline does not compile, so there is nothing to compare with.
    #[error("the baseline does not work: {0}")]
    NoBaseline(Outcome),
    /// The baseline against which the kernel is timed does not work.
    #[error("the baseline: {0}")]
    Baseline(Outcome),
    /// The expected outputs cannot be computed.
    #[error("no expected outputs: {0}")]
    NotExpected(Outcome),
    /// A candidate or a reference failed with this outcome.
    #[error("{0}")]
    Outcome(Outcome),
    /// One of the arms failed during timing.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// No time could be determined.
    #[error("{}", why(.doubt.as_ref()))]
    NotMeasured {
        /// Why not; `None` if all processes ran.
        doubt: Option<Doubt>,
    },
    /// The time is shorter than the device's limits allow.
    #[error(transparent)]
    TooFast(#[from] AboveRoofline),
    /// A worker process failed.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// A worker sent a reply that does not belong to the request.
    #[error("a worker was asked for {asked}, but answered something else")]
    OutOfTurn {
        /// The requested information.
        asked: &'static str,
    },
    /// The file of expected outputs cannot be read.
    #[error("{}: {error}", .path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The file of expected outputs is damaged.
    #[error(transparent)]
    Expected(#[from] ExpectedError),
    /// A kernel that is embedded in this program is invalid.
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    /// The text is not a problem of an embedded kernel.
    #[error(transparent)]
    Problem(#[from] TextError),
}

/// Why a kernel that is embedded in this program is invalid.
#[derive(Debug, Error)]
pub enum EmbeddedError {
    /// The declaration is not valid Rust.
    #[error("{}", .0.message)]
    Syntax(Diagnostic),
    /// The text does not declare a kernel.
    #[error("no kernel was found in its declaration")]
    NoKernel,
    /// The declaration contains mistakes.
    #[error("{rendered}")]
    Wrong {
        /// All mistakes, with their source lines.
        rendered: String,
    },
    /// The source cannot be scanned.
    #[error(transparent)]
    Source(#[from] SourceError),
}

/// Why a command would compare or save nothing, which is an error.
#[derive(Clone, Debug, Error)]
pub enum NothingWatched {
    /// The file contains none of the selected kernels and problems.
    #[error(
        "{} contains none of the selected kernels and problems, so nothing can be compared\n\
         help: run `tune list`; save again with `tune bench --save`",
        .file.display()
    )]
    Chosen {
        /// The path of the file.
        file: PathBuf,
    },
    /// No kernel works, so there is nothing to save.
    #[error(
        "no kernel works, so none was saved to {}\nhelp: the table shows what is wrong with each kernel",
        .file.display()
    )]
    Saved {
        /// The path of the file.
        file: PathBuf,
    },
}

/// Why a series of processes ended without a result, as text.
pub fn why(doubt: Option<&Doubt>) -> String {
    match doubt {
        None => "all processes were used up".into(),
        Some(Doubt::BudgetSpent) => "its time was up".into(),
        Some(Doubt::Faulted(fault)) => fault.to_string(),
        Some(Doubt::UnsteadyClocks) => "the device's clocks were unsteady".into(),
    }
}
