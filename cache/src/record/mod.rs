//! The records of the journal and the store. They are plain data without code, paths or expressions.

mod as_text;
mod error;
mod outcome;
mod outcome_text;
mod real;
mod run;
mod text;
mod trial;
mod winner;

pub use error::RecordError;
pub use outcome::{ATTEMPTS, Against, FaultKind, MaxError, Outcome, Summary};
pub use outcome_text::{all_lines, one_line};
pub use real::Real;
pub use run::{RunEnded, RunSettings, RunStarted, TaskEnded, TimeSpent, printable};
pub use trial::{ReferenceGrade, Trial, TrialId, TrialPlace};
pub use winner::{Confirm, ConfirmProcess, KeptReason, RecordedBaseline, Verdict, Winner};

use kiln_spec::Hash;
use serde::{Deserialize, Serialize};

use self::text::plain_text;
use crate::key::TuningKey;

/// Version of the records and of the journal's frames. A journal with a higher version is rejected with an error.
///
/// A field that was added after the first release is optional, and is left out if it is `None`. Such a field does not
/// need a higher version: this version reads records without it, and earlier versions ignore it. A new kind of record,
/// or a new meaning of a field, needs a higher version.
pub const RECORD_SCHEMA: u32 = 1;

/// One record of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Record {
    /// A run of `tune` began.
    RunStarted(RunStarted),
    /// A tuning key with all its fields, before its first use.
    Key(TuningKey),
    /// A config is about to be launched. The record is written before the launch, so it remains after a crash.
    Start {
        /// The trial.
        trial: TrialId,
        /// Number of the attempt, from 1.
        attempt: u32,
    },
    /// A started trial was cancelled, because it was not launched or its launch does not count. Its start is not a
    /// strike.
    Cancelled {
        /// The trial.
        trial: TrialId,
    },
    /// A trial ended.
    End(Trial),
    /// A process of a confirmation ended.
    ConfirmProcess(ConfirmProcess),
    /// The decision of a search: the winning config, or the baseline.
    Sealed(Winner),
    /// A search was completed, so there is nothing left to try.
    SearchDone(SearchDone),
    /// A run of `tune` ended normally.
    RunEnded(RunEnded),
}

impl Record {
    /// Checks that the record is well formed and that its fields do not contradict each other.
    ///
    /// # Errors
    /// A text is empty, too long or unprintable; a proven verdict has no valid confirmation; or its speed-up lies
    /// outside its interval.
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

/// A completed search. Running it again finds nothing left to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchDone {
    /// Name of the kernel.
    pub kernel: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// Hash of the tuning key.
    pub key: Hash,
    /// Number of configs that were tried.
    pub trials: u64,
    /// How the outputs were verified. Records of earlier versions have no such field and mean the weakest grade.
    #[serde(default = "ReferenceGrade::weakest")]
    pub grade: ReferenceGrade,
    /// Digest of what the plain-Rust reference computed; see [`Trial::reference`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Hash>,
    /// The number of configs to which the search was limited. `None` if it could try the whole space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

impl SearchDone {
    /// Whether outputs were compared with the plain-Rust reference that has this digest now.
    pub fn stands_for(&self, reference: Option<Hash>) -> bool {
        trial::is_same_reference(self.reference, reference)
    }

    /// Whether a search that may try this many configs finds nothing left to do. `None` means the whole space.
    pub fn covers(&self, limit: Option<u64>) -> bool {
        match (self.limit, limit) {
            (None, _) => true,
            (Some(tried), Some(wanted)) => wanted <= tried,
            (Some(_), None) => false,
        }
    }
}

#[cfg(test)]
mod earlier_tests;
#[cfg(test)]
mod tests;
