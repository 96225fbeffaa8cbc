//! Checks the whole search space of each task (a kernel and a problem) for a target: which configs compile, and which
//! of them could be launched. Configs that cannot be launched are recorded with the reason, under a key of the target.
//! The compiled images of the other configs stay in the artifact cache.

use std::sync::atomic::Ordering;
use std::time::Instant;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::BuildKind;
use kiln_cache::record::ReferenceGrade;
use kiln_cache::{Cache, Outcome, Trial, TrialId};
use kiln_spec::Config;
use kiln_spec::space::SearchSpace;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::report::{CheckReport, TaskCheck};
use super::target::CompileTarget;
use crate::error::Failure;
use crate::progress::{Reporter, Stage};
use crate::run::RunOptions;
use crate::task::{self, Conditions, Task};
use kiln_lab::LabError;
use kiln_lab::candidate::{Which, Workshop};
use kiln_lab::scratch::Scratch;
use kiln_lab::threads;
use kiln_project::Project;
use kiln_search::{Random, Strategy as _};

/// The inputs of a check: the kernels, the options, and where results and messages go.
pub struct CheckOptions<'a> {
    /// The kernels to check.
    pub project: &'a Project,
    /// The options from the command line.
    pub options: &'a RunOptions,
    /// The cache that stores the results.
    pub cache: &'a Cache,
    /// Receives the progress messages.
    pub reporter: &'a dyn Reporter,
}

/// Checks every task for a target.
///
/// # Errors
/// If results cannot be stored, or a requested problem is not declared. Faults of a kernel are in the report.
pub fn check(with: &CheckOptions<'_>, target: &CompileTarget) -> Result<CheckReport, Failure> {
    let start = Instant::now();
    let compiler = &*target.compiler;
    let folder = Scratch::new(with.cache.folder())?;
    let artifacts = ArtifactCache::in_cache(with.cache.folder()).map_err(LabError::Device)?;
    let workshop = target.workshop(&artifacts, folder.path());
    let pool = threads::to_compile(with.options.jobs)?;
    let tasks = task::plan(
        &with.project.kernels,
        &Conditions::new(&target.info, compiler, None),
    );
    let tasks = task::only(tasks, &with.options.problems)?;
    let until = with.options.budget.map(|budget| start + budget);
    with.reporter.run_started(tasks.len(), with.options.budget);
    let bench = TargetContext {
        with,
        target,
        workshop: &workshop,
        pool: &pool,
        until,
    };
    let mut checks = Vec::with_capacity(tasks.len());
    for (index, task) in tasks.iter().enumerate() {
        let check = bench.task(index, task)?;
        with.reporter.task_finished(&check.one_line());
        checks.push(check);
    }
    with.reporter.run_finished();
    Ok(CheckReport {
        target: target.known.arch,
        title: target.title(),
        tasks: checks,
        compiles: workshop.compiles.load(Ordering::Relaxed),
        elapsed_ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
    })
}

/// The data that all tasks of one target share.
struct TargetContext<'a> {
    with: &'a CheckOptions<'a>,
    target: &'a CompileTarget,
    workshop: &'a Workshop<'a>,
    pool: &'a rayon::ThreadPool,
    until: Option<Instant>,
}

/// The result of checking one config.
enum ConfigVerdict {
    /// The config can be launched. `spills` is `true` if it spills registers.
    Launchable { spills: bool },
    /// The config does not compile or cannot be launched. `attempt` is the number of the attempt that determined this,
    /// and `known` is `true` if an earlier run recorded the outcome.
    Excluded {
        outcome: Outcome,
        attempt: u32,
        known: bool,
    },
}

impl TargetContext<'_> {
    fn task(&self, index: usize, task: &Task<'_>) -> Result<TaskCheck, Failure> {
        let mut check = TaskCheck::new(task);
        let spec = &task.kernel.spec;
        let space = match SearchSpace::build(spec, task.problem, &self.target.info.limits) {
            Ok(space) => space,
            Err(error) => {
                check.error = Some(error.to_string());
                return Ok(check);
            }
        };
        check.count_space(&space);
        self.with.cache.remember_key(&task.key)?;
        let configs = self.chosen(&space);
        self.with
            .reporter
            .task_started(index, &task.name(), configs.len() as u64);
        self.with
            .reporter
            .stage(Stage::Compile, configs.len() as u64);
        match self.baseline(task) {
            Some(Outcome::NotInstalled { text }) => {
                check.error = Some(text);
                return Ok(check);
            }
            outcome => check.baseline = outcome.map(|outcome| outcome.to_string()),
        }
        // A batch is large enough to keep every thread busy, and small enough that a killed run loses little.
        for batch in configs.chunks(self.pool.current_num_threads() * 8) {
            if self.until.is_some_and(|end| Instant::now() >= end) {
                check.out_of_time = configs.len() as u64 - check.checked;
                break;
            }
            self.batch(task, &space, batch, &mut check)?;
            self.with.reporter.checked(check.checked, check.cannot());
            if check.error.is_some() {
                break;
            }
        }
        Ok(check)
    }

    /// The indices of the configs to check: all configs of the space or, if there are more than `--trials` or more than
    /// `MAX_CONFIGS`, a random sample of that size.
    fn chosen(&self, space: &SearchSpace) -> Vec<usize> {
        // Compiling this many configs would take too long for any user.
        const MAX_CONFIGS: usize = 10_000_000;
        match self
            .with
            .options
            .trials
            .unwrap_or(MAX_CONFIGS)
            .min(MAX_CONFIGS)
        {
            most if most < space.len() => {
                let rng = ChaCha8Rng::seed_from_u64(self.with.options.seed);
                Random::new(space.len(), rng).ask(most)
            }
            _ => (0..space.len()).collect(),
        }
    }

    /// Why the baseline cannot be launched; `None` if it can. Without a baseline, nothing can be tuned.
    fn baseline(&self, task: &Task<'_>) -> Option<Outcome> {
        let made = self.workshop.make(
            task.kernel,
            Which::Baseline,
            task.problem,
            BuildKind::Release,
        );
        made.err()
    }

    fn batch(
        &self,
        task: &Task<'_>,
        space: &SearchSpace,
        batch: &[usize],
        check: &mut TaskCheck,
    ) -> Result<(), Failure> {
        let one = |&index: &usize| {
            let config = space.config(index);
            let verdict = self.config(task, &config);
            self.with.reporter.step();
            verdict.map(|verdict| (config, verdict))
        };
        let verdicts: Result<Vec<_>, Failure> =
            self.pool.install(|| batch.par_iter().map(one).collect());
        let mut trials = Vec::new();
        for (config, verdict) in verdicts? {
            match verdict {
                ConfigVerdict::Launchable { spills } => check.count_launchable(spills),
                // The other configs would end in the same way.
                ConfigVerdict::Excluded {
                    outcome: Outcome::NotInstalled { text },
                    ..
                } => check.error = Some(text),
                ConfigVerdict::Excluded {
                    outcome,
                    attempt,
                    known,
                } => {
                    check.count_excluded(&outcome, attempt);
                    if !known {
                        trials.push(self.trial(task, &config, outcome, attempt));
                    }
                }
            }
        }
        Ok(self.with.cache.finish_all(trials)?)
    }

    fn config(&self, task: &Task<'_>, config: &Config) -> Result<ConfigVerdict, Failure> {
        let id = TrialId {
            key: task.key.hash(),
            config: config.to_string(),
        };
        if let Some(trial) = self.with.cache.trial(&id)?
            && trial.stands()
        {
            return Ok(ConfigVerdict::Excluded {
                outcome: trial.outcome,
                attempt: trial.attempt,
                known: true,
            });
        }
        let which = Which::Config(config);
        let made = self
            .workshop
            .make(task.kernel, which, task.problem, BuildKind::Release);
        Ok(match made {
            Ok(compiled) => ConfigVerdict::Launchable {
                spills: compiled.spills() > 0,
            },
            Err(outcome) => ConfigVerdict::Excluded {
                outcome,
                attempt: self.with.cache.next_attempt(&id)?,
                known: false,
            },
        })
    }

    fn trial(&self, task: &Task<'_>, config: &Config, outcome: Outcome, attempt: u32) -> Trial {
        Trial {
            kernel: task.kernel.spec.name.clone(),
            problem: task.problem.to_string(),
            config: config.to_string(),
            device: self.target.info.key.clone(),
            key: task.key.hash(),
            outcome,
            compile_ns: 0,
            verify_ns: 0,
            measure_ns: 0,
            attempt,
            // No outputs were compared, so the trial has the lowest grade.
            grade: ReferenceGrade::BaselineOnly,
            reference: None,
            place: None,
        }
    }
}
