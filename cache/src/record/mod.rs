//! The records of the journal and the store: plain data, no code, no path, no expression.

mod as_text;
mod error;
mod outcome;
mod real;
mod run;
mod text;
mod trial;
mod winner;

pub use error::RecordError;
pub use outcome::{ATTEMPTS, Against, FaultKind, MaxError, Outcome, Summary, all_lines, one_line};
pub use real::Real;
pub use run::{RunEnded, RunSettings, RunStarted, TaskEnded, TimeSpent, printable};
pub use trial::{ReferenceGrade, Trial, TrialId, TrialPlace};
pub use winner::{Confirm, ConfirmProcess, KeptReason, RecordedBaseline, Verdict, Winner};

use kiln_spec::Hash;
use serde::{Deserialize, Serialize};

use self::text::plain_text;
use crate::key::TuningKey;

/// Version of the records and of the journal's frames. A journal with a higher one is refused.
///
/// A field that was added later is optional and left out if it is `None`, so that records of earlier programs read
/// as they always did, and theirs read ours: that takes no higher version. A new kind of record, or another meaning,
/// does.
pub const RECORD_SCHEMA: u32 = 1;

/// One record of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Record {
    /// A run of `tune` began.
    RunStarted(RunStarted),
    /// A tuning key in clear, before its first use.
    Key(TuningKey),
    /// A config is about to be launched: written first, so that a crash leaves a trace.
    Start {
        /// The trial.
        trial: TrialId,
        /// Which attempt, from 1.
        attempt: u32,
    },
    /// A started trial was given up before its launch: it is not a strike.
    Cancelled {
        /// The trial.
        trial: TrialId,
    },
    /// A trial ended.
    End(Trial),
    /// A process of a confirmation ended.
    ConfirmProcess(ConfirmProcess),
    /// A search was decided.
    Sealed(Winner),
    /// A search was completed.
    SearchDone(SearchDone),
    /// A run of `tune` ended normally.
    RunEnded(RunEnded),
}

impl Record {
    /// Refuses a record that no honest writer makes.
    ///
    /// # Errors
    /// Unprintable or overlong texts, or a proven verdict without its evidence.
    pub fn check(&self) -> Result<(), RecordError> {
        match self {
            Record::Start { trial, .. } | Record::Cancelled { trial } => {
                plain_text("config", &trial.config)
            }
            Record::End(trial) => trial.check(),
            Record::ConfirmProcess(process) => plain_text("config", &process.config),
            Record::Sealed(winner) => winner.check(),
            Record::SearchDone(done) => plain_text("kernel", &done.kernel),
            Record::RunStarted(run) => run.check(),
            Record::RunEnded(run) => run.check(),
            Record::Key(_) => Ok(()),
        }
    }
}

/// A search was completed: running again finds nothing left to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchDone {
    /// Name of the kernel.
    pub kernel: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// Hash of the tuning key.
    pub key: Hash,
    /// Configs tried.
    pub trials: u64,
}

#[cfg(test)]
mod earlier_tests;
#[cfg(test)]
mod tests;
