//! Evaluates configs: compiles them in parallel, verifies them, and races the configs whose outputs are right.

use std::time::{Duration, Instant};

use kiln::compiler::BuildKind;
use kiln_cache::record::{Real, TimeSpent};
use kiln_cache::{Begin, Outcome, Summary};
use kiln_spec::{Config, Hash};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::progress::Stage;
use crate::run::cases::CaseFinder;
use crate::run::clock::nanoseconds;
use crate::run::context::RunContext;
use crate::run::proposals::race_together;
use crate::run::trials::{EvaluateError, TaskTrials, cost_of};
use crate::task::Task;
use kiln_lab::NotChecked;
use kiln_lab::WorkerLab;
use kiln_lab::candidate::{Compiled, Which};
use kiln_lab::check::Checker;
use kiln_lab::kept_worker::KeptWorker;
use kiln_lab::peaks;
use kiln_lab::verify::Verifier;
use kiln_measure::span::Resolution;
use kiln_measure::{ArmId, Fate, LeastWork, RaceEntry, RaceSettings, Roofline, Tournament};

/// A config that compiled and passed verification.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The config.
    pub config: Config,
    /// The compiled candidate.
    pub compiled: Compiled,
    /// The arm of the config in the lab.
    pub arm: ArmId,
    /// The hash of the receipts from its verification.
    pub receipt: kiln_spec::Hash,
    pub(super) verify_ns: u64,
    pub(super) attempt: u32,
}

/// Time that every race gets, even if the time limit has passed. If [`MIN_RACE_BASELINES`] launches of the baseline
/// take longer, the race gets the time of these launches instead.
const MIN_RACE: Duration = Duration::from_millis(500);
const MIN_RACE_BASELINES: u64 = 10;

/// An evaluated config and its cost.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The config.
    pub config: Config,
    /// The config's time divided by the baseline's time; `None` if the config failed.
    pub cost: Option<f64>,
}

/// Evaluates the configs of one task.
pub struct Evaluator<'a> {
    /// The data that all tasks share.
    pub context: &'a RunContext<'a>,
    /// The task (a kernel and a problem).
    pub task: &'a Task<'a>,
    /// The verifier of candidates.
    pub verifier: Verifier<'a>,
    /// The cases on which configs and finalists are verified.
    pub cases: CaseFinder<'a>,
    /// The worker that verifies several configs one after another. It is used on devices where several configs are also
    /// raced in one process. `None` on the cpu, where a candidate could corrupt the memory of its process.
    pub kept: Option<KeptWorker>,
    /// The stored trials of the task.
    pub trials: TaskTrials<'a>,
    /// The roofline of the device, and the least work of a launch. A time below the limit that follows from them is a
    /// measurement error.
    pub bound: (Roofline, LeastWork),
    /// Starts the worker processes of races.
    pub lab: WorkerLab,
    /// The races so far.
    pub tournament: Tournament,
    /// All configs that compiled and passed verification in this run.
    pub contenders: Vec<Contender>,
    /// The checker that runs the check builds of finalists, or the reason why there is none.
    pub checker: Result<Checker<'a>, NotChecked>,
    /// Why the check build of a finalist could not run; `None` if every check build ran.
    pub unchecked: Option<NotChecked>,
    /// What the check build of a finalist remarked, which is not a fault.
    pub remark: Option<String>,
    /// Number of failed configs that were explained.
    pub(super) explained: u32,
    /// The random number generator for the order of samples.
    pub rng: ChaCha8Rng,
    /// How this task's time was spent so far.
    pub spent: TimeSpent,
}

impl<'a> Evaluator<'a> {
    /// Creates an evaluator without trials. `reference` is the digest of the plain-Rust reference, if there is one.
    pub fn new(
        context: &'a RunContext<'a>,
        task: &'a Task<'a>,
        verifier: Verifier<'a>,
        cases: CaseFinder<'a>,
        lab: WorkerLab,
        checker: Result<Checker<'a>, NotChecked>,
        reference: Option<Hash>,
    ) -> Evaluator<'a> {
        let info = context.info;
        let work = peaks::work(&task.kernel.spec, task.problem);
        let resolution = Resolution {
            tick_ns: info.timer_tick_ns,
        };
        let trials = TaskTrials::new(context, task, verifier.expected.grade(), reference);
        Evaluator {
            context,
            task,
            verifier,
            cases,
            kept: race_together(info.key.backend).then(KeptWorker::default),
            trials,
            bound: (peaks::roofline(info), peaks::beyond_the_cache(info, work)),
            lab,
            tournament: Tournament::new(ArmId(0), RaceSettings::new(resolution)),
            contenders: Vec::new(),
            checker,
            unchecked: None,
            remark: None,
            explained: 0,
            rng: context.rng(task),
            spent: TimeSpent::default(),
        }
    }
}

impl Evaluator<'_> {
    /// Evaluates a batch of configs and returns their costs. The configs are compiled in parallel and then verified one
    /// after another. On the cpu each config races right after its verification; on other devices the whole batch races
    /// together. Configs with a stored final outcome are not run again. Configs for which `until` leaves no time are
    /// missing from the result.
    ///
    /// The trial of a config that races alone is stored before the next config is launched, so a run that is killed
    /// repeats at most one trial. A run that is killed while configs race together repeats the batch.
    ///
    /// # Errors
    /// If the baseline fails, the device is lost or a trial cannot be stored.
    pub fn batch(
        &mut self,
        configs: &[Config],
        until: Option<Instant>,
    ) -> Result<Vec<Evaluated>, EvaluateError> {
        let mut evaluated = Vec::with_capacity(configs.len());
        let mut fresh = Vec::new();
        for config in configs {
            match self.trials.cost(config)? {
                Some(cost) => evaluated.push(Evaluated {
                    config: config.clone(),
                    cost,
                }),
                None => fresh.push(config.clone()),
            }
        }
        let mut made: Vec<_> = fresh.iter().zip(self.compile_all(&fresh)).collect();
        // The number of spills determines only the order: if time runs out, the configs with the most spills are not
        // tried.
        made.sort_by_key(|(_, made)| made.as_ref().map_or(0, Compiled::spills));
        let together = self.kept.is_some();
        let mut waiting = Vec::new();
        for (config, made) in made {
            // At least one config is tried, even if its compile took longer than the time limit. Otherwise the task
            // would have no result.
            let late = until.is_some_and(|end| Instant::now() >= end);
            if late && !self.contenders.is_empty() {
                break;
            }
            let contender = self.one(config, made)?;
            match contender {
                Some(contender) if together => waiting.push(contender),
                Some(contender) => evaluated.extend(self.race(vec![contender], until)?),
                None => evaluated.push(Evaluated {
                    config: config.clone(),
                    cost: None,
                }),
            }
        }
        evaluated.extend(self.race(waiting, until)?);
        Ok(evaluated)
    }

    fn compile_all(&mut self, configs: &[Config]) -> Vec<Result<Compiled, Outcome>> {
        let start = Instant::now();
        self.context
            .reporter
            .stage(Stage::Compile, configs.len() as u64);
        let make = |config: &Config| {
            let which = Which::Config(config);
            let made = self.context.workshop.make(
                self.task.kernel,
                which,
                self.task.problem,
                BuildKind::Release,
            );
            self.context.reporter.step();
            made
        };
        let made = self
            .context
            .pool
            .install(|| configs.par_iter().map(make).collect());
        self.spent.compile_ns += nanoseconds(start.elapsed());
        made
    }

    /// Verifies one compiled config. Returns `None` if the config fails, after storing its outcome.
    fn one(
        &mut self,
        config: &Config,
        made: Result<Compiled, Outcome>,
    ) -> Result<Option<Contender>, EvaluateError> {
        let again = self.trials.next_attempt(config)?;
        let compiled = match made {
            Ok(compiled) => compiled,
            Err(outcome) => {
                self.trials.store(config, outcome, [0; 3], again)?;
                return Ok(None);
            }
        };
        let attempt = match self.trials.begin(config)? {
            Begin::Go { attempt } => attempt.max(again),
            Begin::Quarantined { strikes } => {
                self.trials
                    .store(config, Outcome::Quarantined { strikes }, [0; 3], strikes)?;
                return Ok(None);
            }
        };
        let compile_ns = compiled.compile_ns;
        match self.verified(config, compiled, attempt) {
            Err((outcome, verify_ns)) => {
                self.trials
                    .store(config, outcome, [compile_ns, verify_ns, 0], attempt)?;
                Ok(None)
            }
            Ok(contender) => Ok(Some(contender)),
        }
    }

    /// Races verified configs and the best config so far in the same processes. Stores the outcome of each verified
    /// config and returns their costs.
    fn race(
        &mut self,
        mut contenders: Vec<Contender>,
        until: Option<Instant>,
    ) -> Result<Vec<Evaluated>, EvaluateError> {
        if contenders.is_empty() {
            return Ok(Vec::new());
        }
        self.context
            .reporter
            .stage(Stage::Race, contenders.len() as u64);
        if let Some(kept) = &mut self.kept {
            // No other process may use the device during timing.
            kept.end();
        }
        for contender in &mut contenders {
            contender.arm = self.lab.add(contender.compiled.arm.clone());
            self.contenders.push(contender.clone());
        }
        let start = Instant::now();
        let budget_ns = self.race_budget_ns(until);
        let arms: Vec<ArmId> = contenders.iter().map(|contender| contender.arm).collect();
        let result =
            self.tournament
                .submit(&mut self.lab, &arms, budget_ns, &mut self.rng, &mut |_| {});
        if result.is_err() && contenders.len() > 1 {
            // It is not known which arm caused the failure, so the failure does not count as an attempt at any arm.
            for contender in &contenders {
                self.trials.cancel(&contender.config)?;
            }
        }
        let result = result?;
        let race_ns = nanoseconds(start.elapsed());
        self.spent.race_ns += race_ns;
        let mut evaluated = Vec::with_capacity(contenders.len());
        for contender in &contenders {
            let outcome = result
                .entry(contender.arm)
                .and_then(|entry| self.outcome(contender, entry));
            let measure_ns = race_ns / contenders.len() as u64;
            evaluated.push(Evaluated {
                config: contender.config.clone(),
                cost: self.raced(contender, outcome, measure_ns)?,
            });
        }
        self.disown_faulted(&arms)?;
        Ok(evaluated)
    }

    /// Stores the outcome of a config that raced, and returns its cost.
    fn raced(
        &self,
        contender: &Contender,
        outcome: Option<Outcome>,
        measure_ns: u64,
    ) -> Result<Option<f64>, EvaluateError> {
        let Some(outcome) = outcome else {
            // The config is not to blame for the missing measurement, so it may be tried again.
            self.trials.cancel(&contender.config)?;
            return Ok(None);
        };
        let cost = cost_of(&outcome);
        let times = [
            contender.compiled.compile_ns,
            contender.verify_ns,
            measure_ns,
        ];
        self.trials
            .store(&contender.config, outcome, times, contender.attempt)?;
        Ok(cost)
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

    /// Adds the best configs of earlier runs to the tournament, so the play-off compares all configs. Their stored
    /// trials do not change, unless the configs fail now. After `until`, only the first config races.
    ///
    /// # Errors
    /// The errors of [`Self::batch`].
    pub fn recall(
        &mut self,
        configs: &[Config],
        until: Option<Instant>,
    ) -> Result<(), EvaluateError> {
        let raced = |config: &Config| self.contenders.iter().any(|one| one.config == *config);
        let missing = configs.iter().filter(|config| !raced(config));
        let missing: Vec<Config> = missing.cloned().collect();
        let made = self.compile_all(&missing);
        for (config, made) in missing.iter().zip(made) {
            // The first config races even after the time limit. If it is the proven config, another config can replace
            // it only after a race against it.
            let late = until.is_some_and(|end| Instant::now() >= end);
            if late && configs.first() != Some(config) {
                break;
            }
            let Ok(compiled) = made else { continue };
            match self.verified(config, compiled, 1) {
                Ok(mut contender) => {
                    contender.arm = self.lab.add(contender.compiled.arm.clone());
                    self.contenders.push(contender.clone());
                    let budget_ns = self.race_budget_ns(until);
                    let start = Instant::now();
                    self.tournament.submit(
                        &mut self.lab,
                        &[contender.arm],
                        budget_ns,
                        &mut self.rng,
                        &mut |_| {},
                    )?;
                    self.spent.race_ns += nanoseconds(start.elapsed());
                    self.disown_faulted(&[])?;
                }
                Err((outcome, verify_ns)) => {
                    self.trials.store(config, outcome, [0, verify_ns, 0], 1)?
                }
            }
        }
        Ok(())
    }

    /// Whether a race in this turn timed the config with this text.
    pub fn has_raced(&self, config: &str) -> bool {
        let contenders = self.contenders.iter();
        let mut same = contenders.filter(|contender| contender.config.to_string() == config);
        let raced = self.tournament.raced();
        same.any(|contender| raced.iter().any(|raced| raced.arm == contender.arm))
    }

    /// The time in nanoseconds for a race that begins now. It has a minimum, because the configs are already compiled
    /// and verified, and a race that is too short would waste this work.
    fn race_budget_ns(&self, until: Option<Instant>) -> u64 {
        let baselines = self.lab.baseline_ns().saturating_mul(MIN_RACE_BASELINES);
        let least = MIN_RACE.max(Duration::from_nanos(baselines));
        let left = until.map(|end| end.saturating_duration_since(Instant::now()).max(least));
        left.map_or(u64::MAX, nanoseconds)
    }

    /// Stores the outcome of arms that raced successfully and failed later, in another race or in the play-off. Skips
    /// the arms in `newest`, whose outcomes the caller has already stored.
    ///
    /// # Errors
    /// The errors of [`Self::batch`].
    pub fn disown_faulted(&mut self, newest: &[ArmId]) -> Result<(), EvaluateError> {
        for fault in self.tournament.take_faults() {
            let known = fault.arm.filter(|arm| !newest.contains(arm));
            if let Some(contender) = known.and_then(|arm| self.contender(arm)).cloned() {
                self.disown(&contender, fault.outcome)?;
            }
        }
        Ok(())
    }

    /// Stores the failure of a contender and removes the contender from the tournament. The caller found a fault that
    /// the race did not find, for example in the check build, in repeated launches or in the confirmation.
    ///
    /// # Errors
    /// The errors of [`Self::batch`].
    pub fn disown(&mut self, contender: &Contender, outcome: Outcome) -> Result<(), EvaluateError> {
        let times = [contender.compiled.compile_ns, contender.verify_ns, 0];
        self.trials
            .store(&contender.config, outcome, times, contender.attempt)?;
        self.tournament.disqualify(contender.arm);
        Ok(())
    }

    /// The contender with this arm.
    pub fn contender(&self, arm: ArmId) -> Option<&Contender> {
        self.contenders
            .iter()
            .find(|contender| contender.arm == arm)
    }
}
