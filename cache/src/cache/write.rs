//! Methods that write. When a call returns, its records are on disk.

use kiln_spec::Hash;

use super::{Begin, Cache, QUARANTINE_STRIKES};
use crate::error::CacheError;
use crate::key::TuningKey;
use crate::record::{
    ConfirmProcess, Record, RunEnded, RunSettings, RunStarted, SearchDone, Trial, TrialId, Winner,
};
use crate::store::keys;

impl Cache {
    /// Records the beginning of a run without settings, and returns the run's number.
    ///
    /// # Errors
    /// Nothing could be recorded.
    pub fn start_run(&self, version: &str, unix_s: u64, seed: u64) -> Result<u64, CacheError> {
        self.begin_run(version, unix_s, seed, None)
    }

    /// Records the beginning of a run and its settings, and returns the run's number.
    ///
    /// # Errors
    /// Nothing could be recorded.
    pub fn begin_run(
        &self,
        version: &str,
        unix_s: u64,
        seed: u64,
        settings: Option<RunSettings>,
    ) -> Result<u64, CacheError> {
        let run = self.runs()?.last().map_or(1, |r| r.started.run + 1);
        let version = version.into();
        self.record(vec![Record::RunStarted(RunStarted {
            run,
            version,
            unix_s,
            seed,
            settings,
        })])?;
        Ok(run)
    }

    /// Records the normal end of a run.
    ///
    /// # Errors
    /// Nothing could be recorded.
    pub fn end_run(&self, run: u64, unix_s: u64) -> Result<(), CacheError> {
        self.finish_run(RunEnded {
            run,
            unix_s,
            elapsed_ns: None,
            tasks: Vec::new(),
        })
    }

    /// Records the normal end of a run and the outcomes of its tasks.
    ///
    /// # Errors
    /// Nothing could be recorded.
    pub fn finish_run(&self, ended: RunEnded) -> Result<(), CacheError> {
        self.record(vec![Record::RunEnded(ended.fitted())])
    }

    /// Stores a tuning key with all its fields. Call this before the first trial under the key. All other records
    /// contain only the hash of the key, so without this record its fields could not be read later.
    ///
    /// # Errors
    /// Nothing could be recorded.
    pub fn remember_key(&self, key: &TuningKey) -> Result<(), CacheError> {
        if self.knows(key.hash())? {
            return Ok(());
        }
        self.record(vec![Record::Key(key.clone())])
    }

    /// Records that a config is about to be launched, unless the config is quarantined. If the launch ends the machine,
    /// this record remains and is a strike.
    ///
    /// # Errors
    /// Nothing could be recorded, for example because the tuning key was not stored. The config must then not be
    /// launched.
    pub fn begin(&self, trial: &TrialId) -> Result<Begin, CacheError> {
        self.require_key(trial.key)?;
        let strikes = self.strikes(trial)?;
        if strikes >= QUARANTINE_STRIKES {
            return Ok(Begin::Quarantined { strikes });
        }
        let attempt = strikes + 1;
        let trial = trial.clone();
        self.record(vec![Record::Start { trial, attempt }])?;
        Ok(Begin::Go { attempt })
    }

    /// Cancels a [`Self::begin`], because the config was not launched or its launch does not count.
    ///
    /// # Errors
    /// Nothing could be recorded.
    pub fn cancel(&self, trial: &TrialId) -> Result<(), CacheError> {
        let trial = trial.clone();
        self.record(vec![Record::Cancelled { trial }])
    }

    /// Records the outcome of a config.
    ///
    /// # Errors
    /// Nothing could be recorded.
    pub fn finish(&self, trial: Trial) -> Result<(), CacheError> {
        self.finish_all(vec![trial])
    }

    /// Records the outcomes of many configs in one write.
    ///
    /// # Errors
    /// Nothing could be recorded.
    pub fn finish_all(&self, trials: Vec<Trial>) -> Result<(), CacheError> {
        for trial in &trials {
            self.require_key(trial.key)?;
        }
        self.record(trials.into_iter().map(Record::End).collect())
    }

    /// Records a process of a confirmation.
    ///
    /// # Errors
    /// Nothing could be recorded.
    pub fn confirm_process(&self, process: ConfirmProcess) -> Result<(), CacheError> {
        self.require_key(process.key)?;
        self.record(vec![Record::ConfirmProcess(process)])
    }

    /// Records the decision of a search.
    ///
    /// # Errors
    /// Nothing could be recorded, or the winner is invalid, for example because it is proven but has no confirmation.
    pub fn seal(&self, winner: Winner) -> Result<(), CacheError> {
        self.require_key(winner.key)?;
        self.record(vec![Record::Sealed(winner)])
    }

    /// Records that a search is complete.
    ///
    /// # Errors
    /// Nothing could be recorded.
    pub fn mark_search_done(&self, done: SearchDone) -> Result<(), CacheError> {
        self.require_key(done.key)?;
        self.record(vec![Record::SearchDone(done)])
    }

    fn require_key(&self, key: Hash) -> Result<(), CacheError> {
        if self.knows(key)? {
            return Ok(());
        }
        Err(CacheError::UnknownKey { key })
    }

    fn knows(&self, key: Hash) -> Result<bool, CacheError> {
        Ok(self.get(&keys::key(key))?.is_some())
    }
}
