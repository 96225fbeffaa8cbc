//! Errors of timing and comparing kernels.

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
    /// Its data does not fit the device.
    #[error(transparent)]
    Footprint(#[from] FootprintError),
    /// Its reference entry cannot be launched.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// The baseline's geometry has no value.
    #[error("the baseline: {0}")]
    BaselinePlan(PlanError),
    /// The baseline does not compile, so there is nothing to compare with.
    #[error("the baseline does not work: {0}")]
    NoBaseline(Outcome),
    /// The baseline that the kernel is timed against does not work.
    #[error("the baseline: {0}")]
    Baseline(Outcome),
    /// The expected outputs cannot be made.
    #[error("no expected outputs: {0}")]
    NotExpected(Outcome),
    /// A candidate or a reference had this outcome.
    #[error("{0}")]
    Outcome(Outcome),
    /// A side failed during timing.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// Nothing was measured.
    #[error("{}", why(.doubt.as_ref()))]
    NotMeasured {
        /// The reason.
        doubt: Option<Doubt>,
    },
    /// The time is faster than the device can be.
    #[error(transparent)]
    TooFast(#[from] AboveRoofline),
    /// A worker process failed.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// A worker sent the answer to another request.
    #[error("a worker answered something else than {asked}")]
    OutOfTurn {
        /// The request.
        asked: &'static str,
    },
    /// The file of expected outputs cannot be read.
    #[error("{}: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file of expected outputs is damaged.
    #[error(transparent)]
    Expected(#[from] ExpectedError),
    /// A kernel of this program itself is invalid.
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    /// A text is not a problem of such a kernel.
    #[error(transparent)]
    Problem(#[from] TextError),
}

/// Why a kernel of this program itself is invalid.
#[derive(Debug, Error)]
pub enum EmbeddedError {
    /// Its declaration is not Rust.
    #[error("{}", .0.message)]
    Syntax(Diagnostic),
    /// Its declaration declares nothing.
    #[error("no kernel was found in its declaration")]
    NoKernel,
    /// Its declaration is wrong.
    #[error("{rendered}")]
    Wrong {
        /// Every mistake, with its source lines.
        rendered: String,
    },
    /// Its source cannot be scanned.
    #[error(transparent)]
    Source(#[from] SourceError),
}

/// Why a command would compare nothing; such a command must fail.
#[derive(Clone, Debug, Error)]
pub enum NothingWatched {
    /// The file contains none of the selected kernels and problems.
    #[error(
        "{} has no kernel and problem of those that were chosen: nothing can be compared\nhelp: run `tune list`; save again with `tune bench --save`",
        .file.display()
    )]
    Chosen {
        /// The file.
        file: PathBuf,
    },
    /// No kernel works.
    #[error(
        "no kernel works, so that none was saved to {}\nhelp: what is wrong with each is in the table",
        .file.display()
    )]
    Saved {
        /// The file.
        file: PathBuf,
    },
}

/// Why a series of processes ended without a result, in words.
pub fn why(doubt: Option<&Doubt>) -> String {
    match doubt {
        None => "all processes were used up".into(),
        Some(Doubt::BudgetSpent) => "its time was up".into(),
        Some(Doubt::Faulted(fault)) => fault.to_string(),
        Some(Doubt::UnsteadyClocks) => "the device's clocks were unsteady".into(),
    }
}
