//! Evaluating configs: compile and verify side by side, then race those that are right.

use std::time::{Duration, Instant};

use kiln::compiler::BuildKind;
use kiln_cache::record::{Real, ReferenceGrade, TimeSpent};
use kiln_cache::{Begin, Cache, CacheError, Outcome, Summary, Trial, TrialId};
use kiln_spec::{Config, DeviceKey};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::candidate::{Compiled, Which, Workshop};
use crate::check::Checker;
use crate::lab::WorkerLab;
use crate::measure::{ArmId, Fate, Fault, RaceEntry, Roofline, Tournament, Work};
use crate::outcome::of_worker_error;
use crate::progress::{Reporter, Stage};
use crate::run_clock::{RunClock, nanoseconds};
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

/// The least time that a race is given once it has begun.
const LEAST_RACE: Duration = Duration::from_millis(500);

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
    /// Where finalists run in a checking build; why they cannot, if so.
    pub checker: Result<Checker<'a>, String>,
    /// Why the last finalist could not run in a checking build, if so.
    pub unchecked: Option<String>,
    /// Random orders.
    pub rng: ChaCha8Rng,
    /// When trials end.
    pub clock: &'a RunClock,
    /// Where this task's time went so far.
    pub spent: TimeSpent,
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

impl Evaluator<'_> {
    /// Evaluates a batch: compiles it in parallel, then verifies and races one config after the other. Configs that the
    /// cache knows are not run again; those that `until` leaves no time for are missing from the result.
    ///
    /// Each config's trial is on disk before the next one is launched, so that a run that is killed repeats one
    /// trial at most.
    ///
    /// # Errors
    /// When the baseline fails, the device is lost or a trial cannot be stored.
    pub fn batch(
        &mut self,
        configs: &[Config],
        until: Option<Instant>,
    ) -> Result<Vec<Evaluated>, EvaluateError> {
        let mut evaluated = Vec::with_capacity(configs.len());
        let mut fresh = Vec::new();
        for config in configs {
            match self.known(config)? {
                Some(cost) => evaluated.push(Evaluated {
                    config: config.clone(),
                    cost,
                }),
                None => fresh.push(config.clone()),
            }
        }
        let mut made: Vec<_> = fresh.iter().zip(self.compile_all(&fresh)).collect();
        // Spills only order: when time runs out, those that spill most are what is left.
        made.sort_by_key(|(_, made)| made.as_ref().map_or(0, Compiled::spills));
        for (config, made) in made {
            if until.is_some_and(|end| Instant::now() >= end) {
                break;
            }
            let cost = self.one(config, made, until)?;
            evaluated.push(Evaluated {
                config: config.clone(),
                cost,
            });
        }
        Ok(evaluated)
    }

    /// What the cache knows of a config: its cost, where it was measured under the same key. What came to no verdict is
    /// not known.
    fn known(&self, config: &Config) -> Result<Option<Option<f64>>, CacheError> {
        let trial = self.cache.trial(&self.id(config))?;
        let trial = trial.filter(Trial::stands);
        Ok(trial.map(|trial| {
            trial
                .outcome
                .summary()
                .and_then(|s| s.ratio_ppm)
                .map(|ppm| ppm as f64 / 1e6)
        }))
    }

    fn id(&self, config: &Config) -> TrialId {
        TrialId {
            key: self.task.key.hash(),
            config: config.to_string(),
        }
    }

    fn compile_all(&mut self, configs: &[Config]) -> Vec<Result<Compiled, Outcome>> {
        let start = Instant::now();
        self.reporter.stage(Stage::Compile, configs.len() as u64);
        let make = |config: &Config| {
            let which = Which::Config(config);
            let made = self.workshop.make(
                self.task.kernel,
                which,
                self.task.problem,
                BuildKind::Release,
            );
            self.reporter.step();
            made
        };
        let made = self.pool.install(|| configs.par_iter().map(make).collect());
        self.spent.compile_ns += nanoseconds(start.elapsed());
        made
    }

    /// Verifies and races one compiled config and stores what became of it; its cost.
    fn one(
        &mut self,
        config: &Config,
        made: Result<Compiled, Outcome>,
        until: Option<Instant>,
    ) -> Result<Option<f64>, EvaluateError> {
        let again = self.cache.next_attempt(&self.id(config))?;
        let compiled = match made {
            Ok(compiled) => compiled,
            Err(outcome) => {
                self.finish(self.trial(config, outcome, [0; 3], again))?;
                return Ok(None);
            }
        };
        let attempt = match self.cache.begin(&self.id(config))? {
            Begin::Go { attempt } => attempt.max(again),
            Begin::Quarantined { strikes } => {
                self.finish(self.trial(config, Outcome::Quarantined { strikes }, [0; 3], strikes))?;
                return Ok(None);
            }
        };
        let compile_ns = compiled.compile_ns;
        match self.verified(config, compiled, attempt) {
            Err((outcome, verify_ns)) => {
                self.finish(self.trial(config, outcome, [compile_ns, verify_ns, 0], attempt))?;
                Ok(None)
            }
            Ok(contender) => self.race(contender, until),
        }
    }

    /// A compiled config that computes what it should; else its outcome, and how long it took to find out.
    fn verified(
        &mut self,
        config: &Config,
        compiled: Compiled,
        attempt: u32,
    ) -> Result<Contender, (Outcome, u64)> {
        self.reporter.stage(Stage::Verify, self.cases.len() as u64);
        let start = Instant::now();
        let verified = self.verifier.verify(&compiled.arm, self.cases);
        let verified = verified.map_err(|error| self.explained(config, of_worker_error(&error)));
        let verify_ns = nanoseconds(start.elapsed());
        self.spent.verify_ns += verify_ns;
        let proof = verified.map_err(|outcome| (outcome, verify_ns))?;
        let receipt = kiln_spec::Hash::of("receipts", proof.receipts.join("\n").as_bytes());
        // The arm is set when it enters the lab.
        Ok(Contender {
            config: config.clone(),
            compiled,
            arm: ArmId(0),
            receipt,
            verify_ns,
            attempt,
        })
    }

    fn explained(&self, config: &Config, outcome: Outcome) -> Outcome {
        match &self.checker {
            Ok(checker) => checker.explain(Which::Config(config), self.verifier.expected, outcome),
            Err(_) => outcome,
        }
    }

    /// Races a verified config against the best so far and stores what became of it; its cost.
    fn race(
        &mut self,
        mut contender: Contender,
        until: Option<Instant>,
    ) -> Result<Option<f64>, EvaluateError> {
        self.reporter.stage(Stage::Race, 1);
        contender.arm = self.lab.add(contender.compiled.arm.clone());
        self.contenders.push(contender.clone());
        let start = Instant::now();
        // A race that has begun gets a little time in any case, so that its trial is not lost.
        let left = until.map(|end| {
            end.saturating_duration_since(Instant::now())
                .max(LEAST_RACE)
        });
        let budget_ns = left.map_or(u64::MAX, nanoseconds);
        let arms = [contender.arm];
        let result =
            self.tournament
                .submit(&mut self.lab, &arms, budget_ns, &mut self.rng, &mut |_| {})?;
        let measure_ns = nanoseconds(start.elapsed());
        self.spent.race_ns += measure_ns;
        let outcome = result
            .entry(contender.arm)
            .and_then(|entry| self.outcome(&contender, entry));
        let Some(outcome) = outcome else {
            // Not its fault, and not measured: it may be asked for again.
            self.cache.cancel(&self.id(&contender.config))?;
            return Ok(None);
        };
        let cost = outcome
            .summary()
            .and_then(|s| s.ratio_ppm)
            .map(|ppm| ppm as f64 / 1e6);
        let times = [
            contender.compiled.compile_ns,
            contender.verify_ns,
            measure_ns,
        ];
        self.finish(self.trial(&contender.config, outcome, times, contender.attempt))?;
        self.disown_faulted(Some(contender.arm))?;
        Ok(cost)
    }

    /// Stores a trial, then says so.
    ///
    /// # Errors
    /// When it cannot be stored, or says nothing of the config: a full disk and a lost device are nobody's outcome.
    fn finish(&self, trial: Trial) -> Result<(), EvaluateError> {
        let fault = Fault::unattributed(trial.outcome.clone());
        if fault.ends_the_run() {
            self.cache.cancel(&trial.id())?;
            return Err(fault.into());
        }
        let line = format!(
            "{} ({}) {}: {}",
            trial.kernel, trial.problem, trial.config, trial.outcome
        );
        self.cache.finish(trial)?;
        self.reporter.trial(&line);
        Ok(())
    }

    fn outcome(&self, contender: &Contender, entry: &RaceEntry) -> Option<Outcome> {
        if let Fate::Faulted(fault) = &entry.fate {
            return Some(fault.outcome.clone());
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

    fn trial(
        &self,
        config: &Config,
        outcome: Outcome,
        [compile_ns, verify_ns, measure_ns]: [u64; 3],
        attempt: u32,
    ) -> Trial {
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
            place: Some(self.clock.place()),
        }
    }

    /// What outputs are compared with.
    pub fn grade(&self) -> ReferenceGrade {
        self.verifier.expected.grade()
    }

    /// Takes the best of what earlier runs measured back into the tournament, so that the play-off compares all. Their
    /// trials are on disk already and stay as they are, unless they fail now.
    ///
    /// # Errors
    /// As [`Self::batch`].
    pub fn recall(
        &mut self,
        configs: &[Config],
        until: Option<Instant>,
    ) -> Result<(), EvaluateError> {
        let known = |this: &Self, config: &Config| {
            this.contenders
                .iter()
                .any(|contender| contender.config == *config)
        };
        let missing: Vec<Config> = configs
            .iter()
            .filter(|config| !known(self, config))
            .cloned()
            .collect();
        for (config, made) in missing.iter().zip(self.compile_all(&missing)) {
            let Ok(compiled) = made else { continue };
            match self.verified(config, compiled, 1) {
                Ok(mut contender) => {
                    contender.arm = self.lab.add(contender.compiled.arm.clone());
                    self.contenders.push(contender.clone());
                    let budget_ns =
                        until.map(|end| nanoseconds(end.saturating_duration_since(Instant::now())));
                    let budget_ns = budget_ns.unwrap_or(u64::MAX);
                    let start = Instant::now();
                    self.tournament.submit(
                        &mut self.lab,
                        &[contender.arm],
                        budget_ns,
                        &mut self.rng,
                        &mut |_| {},
                    )?;
                    self.spent.race_ns += nanoseconds(start.elapsed());
                    self.disown_faulted(None)?;
                }
                Err((outcome, verify_ns)) => {
                    self.finish(self.trial(config, outcome, [0, verify_ns, 0], 1))?
                }
            }
        }
        Ok(())
    }

    /// Stores what became of arms that raced well before and failed since, in a later race or the play-off; of `newest`
    /// a trial is about to be stored.
    ///
    /// # Errors
    /// As [`Self::batch`].
    pub fn disown_faulted(&mut self, newest: Option<ArmId>) -> Result<(), EvaluateError> {
        for fault in self.tournament.take_faults() {
            let known = fault.arm.filter(|arm| Some(*arm) != newest);
            if let Some(contender) = known.and_then(|arm| self.contender(arm)).cloned() {
                self.disown(&contender, fault.outcome)?;
            }
        }
        Ok(())
    }

    /// Stores that a contender is not to be believed after all, and takes it out of the tournament: the checking build,
    /// many launches or the confirmation found what the race did not.
    ///
    /// # Errors
    /// As [`Self::batch`].
    pub fn disown(&mut self, contender: &Contender, outcome: Outcome) -> Result<(), EvaluateError> {
        let times = [contender.compiled.compile_ns, contender.verify_ns, 0];
        self.finish(self.trial(&contender.config, outcome, times, contender.attempt))?;
        self.tournament.disqualify(contender.arm);
        Ok(())
    }

    /// The contender of an arm.
    pub fn contender(&self, arm: ArmId) -> Option<&Contender> {
        self.contenders
            .iter()
            .find(|contender| contender.arm == arm)
    }
}
