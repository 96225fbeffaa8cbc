//! The stored trials of one task.

use kiln_cache::record::ReferenceGrade;
use kiln_cache::{Begin, CacheError, Outcome, Trial, TrialId};
use kiln_measure::Fault;
use kiln_spec::{Config, Hash};

use crate::run::context::RunContext;
use crate::task::Task;

/// Why evaluation cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The baseline failed, or the device is lost.
    #[error("the race cannot go on: {0}")]
    Race(#[from] Fault),
    /// A trial could not be stored.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// Reads and stores the trials of one task.
pub struct TaskTrials<'a> {
    context: &'a RunContext<'a>,
    task: &'a Task<'a>,
    /// How strong the evidence is that the outputs are right.
    pub grade: ReferenceGrade,
    /// Digest of what the plain-Rust reference computes, if outputs are compared with it.
    pub reference: Option<Hash>,
}

impl<'a> TaskTrials<'a> {
    /// Reads and stores the trials of a task. `grade` says how this run verifies outputs, and `reference` is the digest
    /// of the reference.
    pub fn new(
        context: &'a RunContext<'a>,
        task: &'a Task<'a>,
        grade: ReferenceGrade,
        reference: Option<Hash>,
    ) -> TaskTrials<'a> {
        TaskTrials {
            context,
            task,
            grade,
            reference,
        }
    }

    fn id(&self, config: &Config) -> TrialId {
        TrialId {
            key: self.task.key.hash(),
            config: config.to_string(),
        }
    }

    /// The stored result of a config: `Some(None)` for a failed config. Returns `None` if the config must be tried: if
    /// nothing is stored, or if the stored outcome is not final for this run.
    ///
    /// # Errors
    /// If the cache cannot be read.
    pub fn cost(&self, config: &Config) -> Result<Option<Option<f64>>, CacheError> {
        let trial = self.context.cache.trial(&self.id(config))?;
        let trial = trial.filter(|trial| trial.stands_for(self.grade, self.reference));
        Ok(trial.map(|trial| cost_of(&trial.outcome)))
    }

    /// The number of the next attempt at a config, from 1.
    ///
    /// # Errors
    /// If the cache cannot be read.
    pub fn next_attempt(&self, config: &Config) -> Result<u32, CacheError> {
        self.context.cache.next_attempt(&self.id(config))
    }

    /// Records that a config is about to be launched.
    ///
    /// # Errors
    /// If the cache cannot be written.
    pub fn begin(&self, config: &Config) -> Result<Begin, CacheError> {
        self.context.cache.begin(&self.id(config))
    }

    /// Records that the launch of a config does not count.
    ///
    /// # Errors
    /// If the cache cannot be written.
    pub fn cancel(&self, config: &Config) -> Result<(), CacheError> {
        self.context.cache.cancel(&self.id(config))
    }

    /// Stores the outcome of a config and then reports it. The times are those of compiling, verifying and measuring.
    ///
    /// # Errors
    /// If the trial cannot be stored, or if the outcome ends the run (a full disk or a lost device).
    pub fn store(
        &self,
        config: &Config,
        outcome: Outcome,
        [compile_ns, verify_ns, measure_ns]: [u64; 3],
        attempt: u32,
    ) -> Result<(), EvaluateError> {
        let fault = Fault::unattributed(outcome.clone());
        if fault.ends_the_run() {
            self.cancel(config)?;
            return Err(fault.into());
        }
        let (kernel, problem) = (&self.task.kernel.spec.name, self.task.problem);
        let line = format!("{kernel} ({problem}) {config}: {outcome}");
        self.context.cache.finish(Trial {
            kernel: kernel.clone(),
            problem: problem.to_string(),
            config: config.to_string(),
            device: self.context.info.key.clone(),
            key: self.task.key.hash(),
            outcome,
            compile_ns,
            verify_ns,
            measure_ns,
            attempt,
            grade: self.grade,
            reference: self.reference,
            place: Some(self.context.clock.place()),
        })?;
        self.context.reporter.trial(&line);
        Ok(())
    }
}

/// The time of a config divided by the time of the baseline; `None` if the config failed.
pub fn cost_of(outcome: &Outcome) -> Option<f64> {
    let ratio_ppm = outcome.summary()?.ratio_ppm?;
    Some(ratio_ppm as f64 / 1e6)
}
