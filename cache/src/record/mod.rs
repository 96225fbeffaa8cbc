//! What the journal and the store hold: plain data, no code, no path, no expression.

mod outcome;
mod real;
mod run;
mod trial;
mod winner;

pub use outcome::{ATTEMPTS, MaxError, Outcome, Summary, one_line};
pub use real::Real;
pub use run::{RunEnded, RunSettings, RunStarted, TaskEnded, TimeSpent, printable};
pub use trial::{ReferenceGrade, Trial, TrialId, TrialPlace};
pub use winner::{Baseline, Confirm, ConfirmProcess, KeptReason, Verdict, Winner};

use kiln_spec::Hash;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::key::TuningKey;

/// Version of the records and of the journal's frames. A journal with a higher one is refused.
///
/// A field that was added later is optional and left out where there is none, so that records of earlier programs read as they
/// always did, and theirs read ours: that takes no higher version. A new kind of record, or another meaning, does.
pub const RECORD_SCHEMA: u32 = 1;

/// Longest text of a record's name-like field, in bytes.
const MAX_TEXT: usize = 4096;

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
    /// A started trial was given up before its launch: it is no strike.
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
    /// A run of `tune` ended in order.
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

/// Why a record was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A text is empty, overlong or unprintable.
    #[error("{field} is no printable text of 1 to {MAX_TEXT} bytes (it has {bytes} bytes)")]
    Text {
        /// The field.
        field: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// A proven verdict has no confirmation, or one with more wins than processes.
    #[error("the verdict is proven, but no confirmation bears it out")]
    Unproven,
    /// A speed-up lies outside its own interval.
    #[error("speed-up {value} ppm lies outside its interval {low} to {high} ppm")]
    Interval {
        /// The speed-up.
        value: u64,
        /// Lower end.
        low: u64,
        /// Upper end.
        high: u64,
    },
}

/// A name-like text: no control characters, at most [`MAX_TEXT`] bytes. A kernel without parameters
/// has an empty config, a problem without sizes an empty problem.
fn plain_text(field: &'static str, text: &str) -> Result<(), RecordError> {
    let may_be_empty = matches!(field, "config" | "problem");
    let empty = text.is_empty() && !may_be_empty;
    if empty || text.len() > MAX_TEXT || text.chars().any(char::is_control) {
        return Err(RecordError::Text {
            field,
            bytes: text.len(),
        });
    }
    Ok(())
}

/// Serialises through `Display` and `FromStr`.
mod as_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<T: Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod earlier_tests;
#[cfg(test)]
mod tests;
