//! Methods that read. They return the value that was last written under a key, and never a damaged value.

use kiln_spec::Hash;

use super::{Cache, QUARANTINE_STRIKES};
use crate::error::CacheError;
use crate::key::{self, Explanation, TuningKey};
use crate::record::{ConfirmProcess, SearchDone, Trial, TrialId, Winner};
use crate::store::{Run, StoreEntry, Strikes, keys, state};

impl Cache {
    /// The last trial of a config; `None` if there is none.
    ///
    /// # Errors
    /// Neither the store nor the journal can be read. This is the only error of all methods here.
    pub fn trial(&self, id: &TrialId) -> Result<Option<Trial>, CacheError> {
        let found = self.get(&keys::trial(id))?;
        Ok(found.and_then(as_trial))
    }

    /// The number of the next attempt at a config, from 1. It is 1 if the config has no trial, or if its last trial is
    /// final.
    ///
    /// # Errors
    /// The error of [`Self::trial`].
    pub fn next_attempt(&self, id: &TrialId) -> Result<u32, CacheError> {
        let open = self.trial(id)?.filter(|trial| !trial.stands());
        Ok(open.map_or(1, |trial| trial.attempt.saturating_add(1)))
    }

    /// The last trial of each config under a key, in a stable order.
    ///
    /// # Errors
    /// The error of [`Self::trial`].
    pub fn trials(&self, key: Hash) -> Result<Vec<Trial>, CacheError> {
        self.collect(&keys::trials(key), as_trial)
    }

    /// The last trial of each config of a kernel, under all keys. `None` means all kernels.
    ///
    /// # Errors
    /// The error of [`Self::trial`].
    pub fn all_trials(&self, kernel: Option<&str>) -> Result<Vec<Trial>, CacheError> {
        let of_kernel = |trial: &Trial| kernel.is_none_or(|kernel| trial.kernel == kernel);
        self.collect("trial/", |entry| as_trial(entry).filter(of_kernel))
    }

    /// The number of strikes of a config (see [`QUARANTINE_STRIKES`]).
    ///
    /// # Errors
    /// The error of [`Self::trial`].
    pub fn strikes(&self, trial: &TrialId) -> Result<u32, CacheError> {
        self.read(|store| state::strikes(store, trial))
    }

    /// The quarantined configs under a key, which are not launched any more.
    pub fn quarantined(&self, key: Hash) -> Result<Vec<Strikes>, CacheError> {
        self.collect(&keys::all_strikes(key), |entry| match entry {
            StoreEntry::Strikes(s) if s.strikes >= QUARANTINE_STRIKES => Some(s),
            _ => None,
        })
    }

    /// The processes of one confirmation of a finalist, in order. `series` is the number of the confirmation.
    ///
    /// # Errors
    /// The error of [`Self::trial`].
    pub fn confirm_processes(
        &self,
        trial: &TrialId,
        series: u64,
    ) -> Result<Vec<ConfirmProcess>, CacheError> {
        self.collect(&keys::confirms(trial), |entry| match entry {
            StoreEntry::Confirm(process) if process.series == series => Some(process),
            _ => None,
        })
    }

    /// The processes of all confirmations under a key, in order.
    ///
    /// # Errors
    /// The error of [`Self::trial`].
    pub fn confirmations(&self, key: Hash) -> Result<Vec<ConfirmProcess>, CacheError> {
        self.collect(&keys::all_confirms(key), |entry| match entry {
            StoreEntry::Confirm(process) => Some(process),
            _ => None,
        })
    }

    /// The winner under a key; `None` if there is none.
    ///
    /// # Errors
    /// The error of [`Self::trial`].
    pub fn winner(&self, key: Hash) -> Result<Option<Winner>, CacheError> {
        let found = self.get(&keys::winner(key))?;
        Ok(found.and_then(as_winner))
    }

    /// The winners of a kernel under all keys. `None` means all kernels.
    ///
    /// # Errors
    /// The error of [`Self::trial`].
    pub fn all_winners(&self, kernel: Option<&str>) -> Result<Vec<Winner>, CacheError> {
        let of_kernel = |winner: &Winner| kernel.is_none_or(|kernel| winner.kernel == kernel);
        self.collect("winner/", |entry| as_winner(entry).filter(of_kernel))
    }

    /// The completed search under a key; `None` if there is none.
    ///
    /// # Errors
    /// The error of [`Self::trial`].
    pub fn search_done(&self, key: Hash) -> Result<Option<SearchDone>, CacheError> {
        Ok(match self.get(&keys::done(key))? {
            Some(StoreEntry::Done(done)) => Some(done),
            _ => None,
        })
    }

    /// The tuning key with this hash; `None` if it is not stored.
    ///
    /// # Errors
    /// The error of [`Self::trial`].
    pub fn key(&self, key: Hash) -> Result<Option<TuningKey>, CacheError> {
        Ok(match self.get(&keys::key(key))? {
            Some(StoreEntry::Key(key)) => Some(key),
            _ => None,
        })
    }

    /// The tuning keys of a kernel. `None` means all kernels.
    ///
    /// # Errors
    /// The error of [`Self::trial`].
    pub fn keys(&self, kernel: Option<&str>) -> Result<Vec<TuningKey>, CacheError> {
        self.collect("key/", |entry| match entry {
            StoreEntry::Key(key) => kernel.is_none_or(|k| key.kernel() == k).then_some(key),
            _ => None,
        })
    }

    /// The stored key that is nearest to the wanted one, and the fields that differ; `None` if no key of the kernel is
    /// stored.
    ///
    /// # Errors
    /// The error of [`Self::trial`].
    pub fn explain(&self, wanted: &TuningKey) -> Result<Option<Explanation>, CacheError> {
        let stored = self.keys(Some(wanted.kernel()))?;
        Ok(key::explain(&stored, wanted))
    }

    /// All runs, by number.
    ///
    /// # Errors
    /// The error of [`Self::trial`].
    pub fn runs(&self) -> Result<Vec<Run>, CacheError> {
        self.collect("run/", |entry| match entry {
            StoreEntry::Run(run) => Some(run),
            _ => None,
        })
    }
}

fn as_trial(entry: StoreEntry) -> Option<Trial> {
    match entry {
        StoreEntry::Trial(trial) => Some(trial),
        _ => None,
    }
}

fn as_winner(entry: StoreEntry) -> Option<Winner> {
    match entry {
        StoreEntry::Winner(winner) => Some(winner),
        _ => None,
    }
}
