//! The entries of a store.

use serde::{Deserialize, Serialize};

use super::keys;
use crate::key::TuningKey;
use crate::record::{
    ConfirmProcess, RecordError, RunEnded, RunStarted, SearchDone, Trial, TrialId, Winner,
};

/// Launches of one trial that were started and not survived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strikes {
    /// The trial.
    pub trial: TrialId,
    /// The number of strikes.
    pub strikes: u32,
}

/// A run of `tune`, with its end if it has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// How it began.
    pub started: RunStarted,
    /// How it ended; `None` if it was cut off.
    pub ended: Option<RunEnded>,
}

impl Run {
    /// How long it took, in nanoseconds: to the second in runs of earlier programs, `None` if it was cut off.
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
    /// A tuning key in clear.
    Key(TuningKey),
    /// The last trial of a config under a key.
    Trial(Trial),
    /// Strikes against a config under a key.
    Strikes(Strikes),
    /// A process of a confirmation.
    Confirm(ConfirmProcess),
    /// The winner under a key.
    Winner(Winner),
    /// The search under a key is complete.
    Done(SearchDone),
}

impl StoreEntry {
    /// The key it is stored under.
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

    /// Refuses values that no correct writer stores; see [`crate::record::Record::check`].
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
