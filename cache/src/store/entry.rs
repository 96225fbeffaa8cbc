//! The entries of a store.

use serde::{Deserialize, Serialize};

use super::keys;
use crate::key::TuningKey;
use crate::record::{
    ConfirmProcess, RecordError, RunEnded, RunStarted, SearchDone, Trial, TrialId, Winner,
};

/// The strikes of one trial. A strike is a launch that ended the machine, lost the worker or the device, exhausted the
/// memory, or exceeded its deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strikes {
    /// The trial.
    pub trial: TrialId,
    /// The number of strikes.
    pub strikes: u32,
}

/// A run of `tune`, and its end if it has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The beginning of the run.
    pub started: RunStarted,
    /// The end of the run; `None` if the run did not end normally.
    pub ended: Option<RunEnded>,
}

impl Run {
    /// The duration of the run, in nanoseconds. `None` if the run did not end normally. In runs of earlier versions it
    /// is a whole number of seconds.
    pub fn elapsed_ns(&self) -> Option<u64> {
        let ended = self.ended.as_ref()?;
        let seconds = ended.unix_s.saturating_sub(self.started.unix_s);
        Some(
            ended
                .elapsed_ns
                .unwrap_or(seconds.saturating_mul(1_000_000_000)),
        )
    }

    fn check(&self) -> Result<(), RecordError> {
        self.started.check()?;
        self.ended.as_ref().map_or(Ok(()), RunEnded::check)
    }
}

/// One entry of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreEntry {
    /// A run of `tune`.
    Run(Run),
    /// A tuning key with all its fields.
    Key(TuningKey),
    /// The last trial of a config under a key.
    Trial(Trial),
    /// The strikes of a config under a key.
    Strikes(Strikes),
    /// A process of a confirmation.
    Confirm(ConfirmProcess),
    /// The winner under a key.
    Winner(Winner),
    /// The search under a key is complete.
    Done(SearchDone),
}

impl StoreEntry {
    /// The key under which the entry is stored.
    pub fn key(&self) -> String {
        match self {
            StoreEntry::Run(run) => keys::run(run.started.run),
            StoreEntry::Key(key) => keys::key(key.hash()),
            StoreEntry::Trial(trial) => keys::trial(&trial.id()),
            StoreEntry::Strikes(strikes) => keys::strikes(&strikes.trial),
            StoreEntry::Confirm(process) => keys::confirm(process),
            StoreEntry::Winner(winner) => keys::winner(winner.key),
            StoreEntry::Done(done) => keys::done(done.key),
        }
    }

    /// Checks that the entry is well formed, as [`crate::record::Record::check`] does for records.
    pub(crate) fn check(&self) -> Result<(), RecordError> {
        match self {
            StoreEntry::Trial(trial) => trial.check(),
            StoreEntry::Winner(winner) => winner.check(),
            StoreEntry::Run(run) => run.check(),
            StoreEntry::Key(_) | StoreEntry::Strikes(_) => Ok(()),
            StoreEntry::Confirm(_) | StoreEntry::Done(_) => Ok(()),
        }
    }
}
