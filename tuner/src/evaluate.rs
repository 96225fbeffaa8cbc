//! Evaluating configs: compile and verify side by side, then race those that are right.

use std::time::{Duration, Instant};

use kiln::compiler::BuildKind;
use kiln_cache::record::{Real, ReferenceGrade};
use kiln_cache::{Begin, Cache, CacheError, Outcome, Summary, Trial, TrialId};
use kiln_spec::{Config, DeviceKey};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::candidate::{Compiled, Which, Workshop};
use crate::lab::WorkerLab;
use crate::measure::{ArmId, Fate, Fault, RaceEntry, Roofline, Tournament, Work};
use crate::outcome::{of_fault, of_worker_error};
use crate::progress::{Reporter, Stage};
use crate::task::Task;
use crate::verify::{Case, Verifier};

/// A config that compiled and verified.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The config.
    pub config: Config,
    /// The compiled candidate.
    pub compiled: Compiled,
    /// Its arm in the lab.
    pub arm: ArmId,
    /// Hash of the receipts of its verification.
    pub receipt: kiln_spec::Hash,
    verify_ns: u64,
    attempt: u32,
}

/// What a config turned out to cost: its time over the baseline's; `None` for one that failed.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The config.
    pub config: Config,
    /// Its time over the baseline's.
    pub cost: Option<f64>,
}

/// Evaluates the configs of one task.
pub struct Evaluator<'a> {
    /// The task.
    pub task: &'a Task<'a>,
    /// Where candidates are compiled.
    pub workshop: &'a Workshop<'a>,
    /// How they are verified.
    pub verifier: Verifier<'a>,
    /// On what they are verified.
    pub cases: &'a [Case],
    /// Where trials are stored.
    pub cache: &'a Cache,
    /// The compile threads.
    pub pool: &'a rayon::ThreadPool,
    /// Who is told.
    pub reporter: &'a dyn Reporter,
    /// The device.
    pub device: &'a DeviceKey,
    /// What the device can do at most, and what a launch must do at least.
    pub bound: (Roofline, Work),
    /// The processes that race.
    pub lab: WorkerLab,
    /// The races so far.
    pub tournament: Tournament,
    /// Everything that compiled and verified in this run.
    pub contenders: Vec<Contender>,
    /// Random orders.
    pub rng: ChaCha8Rng,
}

/// Why evaluating cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The baseline failed, or the device is gone.
    #[error("the race cannot go on: {0}")]
    Race(#[from] Fault),
    /// A trial could not be stored.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// A candidate on its way to the race, or its outcome if it did not get there.
enum Prepared {
    Ready(Box<Contender>),
    Ended(Box<Trial>),
}

impl Evaluator<'_> {
    /// Evaluates a batch. Configs that the cache knows are not run again.
    ///
    /// # Errors
    /// When the baseline fails, the device is lost or a trial cannot be stored.
    pub fn batch(&mut self, configs: &[Config], until: Option<Instant>) -> Result<Vec<Evaluated>, EvaluateError> {
        let mut evaluated = Vec::with_capacity(configs.len());
        let mut fresh = Vec::new();
        for config in configs {
            match self.known(config)? {
                Some(cost) => evaluated.push(Evaluated { config: config.clone(), cost }),
                None => fresh.push(config.clone()),
            }
        }
        let ready = self.prepare_all(&fresh, &mut evaluated)?;
        self.race(ready, until, &mut evaluated)?;
        Ok(evaluated)
    }

    /// What the cache knows of a config: its cost, where it was measured under the same key.
    fn known(&self, config: &Config) -> Result<Option<Option<f64>>, CacheError> {
        let trial = self.cache.trial(&self.id(config))?;
        Ok(trial.map(|trial| trial.outcome.summary().and_then(|s| s.ratio_ppm).map(|ppm| ppm as f64 / 1e6)))
    }

    fn id(&self, config: &Config) -> TrialId {
        TrialId { key: self.task.key.hash(), config: config.to_string() }
    }

    /// Compiles and verifies in parallel; outcomes of those that fail are stored as they end.
    fn prepare_all(&mut self, configs: &[Config], evaluated: &mut Vec<Evaluated>) -> Result<Vec<Contender>, CacheError> {
        self.reporter.stage(Stage::Compile, configs.len() as u64);
        let this = &*self;
        let prepare = |config: &Config| -> Result<Prepared, CacheError> {
            let prepared = this.prepare(config)?;
            this.reporter.step();
            if let Prepared::Ended(trial) = &prepared {
                this.cache.finish((**trial).clone())?;
            }
            Ok(prepared)
        };
        let prepared: Vec<_> = this.pool.install(|| configs.par_iter().map(prepare).collect::<Result<_, _>>())?;
        let mut ready = Vec::new();
        for (config, prepared) in configs.iter().zip(prepared) {
            match prepared {
                Prepared::Ready(contender) => ready.push(*contender),
                Prepared::Ended(_) => evaluated.push(Evaluated { config: config.clone(), cost: None }),
            }
        }
        Ok(ready)
    }

    /// Compiles and verifies one config.
    fn prepare(&self, config: &Config) -> Result<Prepared, CacheError> {
        let id = self.id(config);
        let attempt = match self.cache.begin(&id)? {
            Begin::Go { attempt } => attempt,
            Begin::Quarantined { strikes } => {
                let outcome = Outcome::Quarantined { strikes };
                return Ok(Prepared::Ended(Box::new(self.trial(config, outcome, [0; 3], strikes))));
            }
        };
        let made = self.workshop.make(self.task.kernel, Which::Config(config), self.task.problem, BuildKind::Release);
        let compiled = match made {
            Ok(compiled) => compiled,
            Err(outcome) => return Ok(Prepared::Ended(Box::new(self.trial(config, outcome, [0; 3], attempt)))),
        };
        let start = Instant::now();
        let verified = self.verifier.verify(&compiled.arm, self.cases);
        let verify_ns = nanoseconds(start.elapsed());
        Ok(match verified {
            Ok(proof) => {
                let receipt = kiln_spec::Hash::of("receipts", proof.receipts.join("\n").as_bytes());
                let config = config.clone();
                // The arm is set when it enters the lab.
                Prepared::Ready(Box::new(Contender { config, compiled, arm: ArmId(0), receipt, verify_ns, attempt }))
            }
            Err(error) => {
                let times = [compiled.compile_ns, verify_ns, 0];
                Prepared::Ended(Box::new(self.trial(config, of_worker_error(&error), times, attempt)))
            }
        })
    }

    /// Races the verified configs of a batch and stores what became of each.
    fn race(
        &mut self,
        ready: Vec<Contender>,
        until: Option<Instant>,
        evaluated: &mut Vec<Evaluated>,
    ) -> Result<(), EvaluateError> {
        if ready.is_empty() {
            return Ok(());
        }
        self.reporter.stage(Stage::Race, ready.len() as u64);
        let first = self.contenders.len();
        for mut contender in ready {
            contender.arm = self.lab.add(contender.compiled.arm.clone());
            self.contenders.push(contender);
        }
        let arms: Vec<ArmId> = self.contenders[first..].iter().map(|contender| contender.arm).collect();
        let reporter = self.reporter;
        let start = Instant::now();
        let budget_ns = until.map_or(u64::MAX, |end| nanoseconds(end.saturating_duration_since(Instant::now())));
        let mut on_end = |_: &RaceEntry| reporter.step();
        let result = self.tournament.submit(&mut self.lab, &arms, budget_ns, &mut self.rng, &mut on_end)?;
        let measure_ns = nanoseconds(start.elapsed()) / arms.len() as u64;
        for place in first..self.contenders.len() {
            let contender = &self.contenders[place];
            let Some(entry) = result.entry(contender.arm) else { continue };
            self.store(contender, entry, measure_ns, evaluated)?;
        }
        Ok(())
    }

    /// Stores what a race found out about a contender.
    fn store(
        &self,
        contender: &Contender,
        entry: &RaceEntry,
        measure_ns: u64,
        evaluated: &mut Vec<Evaluated>,
    ) -> Result<(), CacheError> {
        let Some(outcome) = self.outcome(contender, entry) else {
            // Not its fault, and not measured: it may be asked for again.
            return self.cache.cancel(&self.id(&contender.config));
        };
        let cost = outcome.summary().and_then(|s| s.ratio_ppm).map(|ppm| ppm as f64 / 1e6);
        let times = [contender.compiled.compile_ns, contender.verify_ns, measure_ns];
        self.cache.finish(self.trial(&contender.config, outcome, times, contender.attempt))?;
        evaluated.push(Evaluated { config: contender.config.clone(), cost });
        Ok(())
    }

    fn outcome(&self, contender: &Contender, entry: &RaceEntry) -> Option<Outcome> {
        if let Fate::Faulted(fault) = &entry.fate {
            return Some(of_fault(fault));
        }
        let cost = self.tournament.cost(contender.arm)?;
        let times = entry.summary?;
        let (roofline, work) = self.bound;
        if let Err(above) = roofline.check(work, times.median_ns) {
            return Some(Outcome::TooFast {
                what: "ns a launch".into(),
                measured: Real(above.measured_ns as f64),
                peak: Real(above.least_ns as f64),
            });
        }
        Some(Outcome::Measured(Summary {
            samples: times.samples,
            median_ns: times.median_ns,
            min_ns: times.min_ns,
            ratio_ppm: Some((cost * 1e6).round() as u64),
        }))
    }

    fn trial(&self, config: &Config, outcome: Outcome, [compile_ns, verify_ns, measure_ns]: [u64; 3], attempt: u32) -> Trial {
        Trial {
            kernel: self.task.kernel.spec.name.clone(),
            problem: self.task.problem.to_string(),
            config: config.to_string(),
            device: self.device.clone(),
            key: self.task.key.hash(),
            outcome,
            compile_ns,
            verify_ns,
            measure_ns,
            attempt,
            grade: self.grade(),
        }
    }

    /// What outputs are compared with.
    pub fn grade(&self) -> ReferenceGrade {
        self.verifier.expected.grade()
    }

    /// Takes the best of what earlier runs measured back into the tournament, so that the play-off compares all.
    ///
    /// # Errors
    /// As [`Self::batch`].
    pub fn recall(&mut self, configs: &[Config], until: Option<Instant>) -> Result<(), EvaluateError> {
        let known = |this: &Self, config: &Config| this.contenders.iter().any(|contender| contender.config == *config);
        let missing: Vec<Config> = configs.iter().filter(|config| !known(self, config)).cloned().collect();
        let ready = self.prepare_all(&missing, &mut Vec::new())?;
        self.race(ready, until, &mut Vec::new())
    }

    /// Stores that a contender is not to be believed after all: the checking build found what timing did not.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub fn disown(&self, contender: &Contender, outcome: Outcome) -> Result<(), CacheError> {
        let times = [contender.compiled.compile_ns, contender.verify_ns, 0];
        self.cache.finish(self.trial(&contender.config, outcome, times, contender.attempt))
    }

    /// The contender of an arm.
    pub fn contender(&self, arm: ArmId) -> Option<&Contender> {
        self.contenders.iter().find(|contender| contender.arm == arm)
    }
}

/// A duration in whole nanoseconds.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
