//! Computes the figures of a run from the records in the cache.

use kiln_cache::record::TaskEnded;
use kiln_cache::{Cache, CacheError, Run, Trial};
use rayon::prelude::*;

use super::best::best;
use super::convergence::Convergence;
use super::environment::conditions;
use super::evidence::DecisionFigures;
use super::figures::{RunFigures, SCHEMA, TaskFigures};
use super::heat_map::heat_maps;
use super::histogram::Histogram;
use super::importance::Importance;
use super::outcomes::count;
use super::runs::{Records, RunTask};

/// Computes the figures of a run. If `kernels` is not empty, only the tasks of these kernels are included.
///
/// # Errors
/// If the cache cannot be read.
pub fn gather(
    cache: &Cache,
    records: &Records,
    run: &Run,
    kernels: &[String],
) -> Result<RunFigures, CacheError> {
    let tasks = records.tasks(run, kernels);
    let known: Vec<TaskRecords> = tasks
        .iter()
        .map(|task| TaskRecords::read(cache, run, task))
        .collect::<Result<_, _>>()?;
    let none = Vec::new();
    // Estimating the importance of parameters is slow if there are many trials, so tasks are processed in parallel.
    let tasks: Vec<TaskFigures> = tasks
        .par_iter()
        .zip(known)
        .map(|(task, known)| {
            let trials = records.trials.get(&task.key).unwrap_or(&none);
            figures(run, task, trials, known)
        })
        .collect();
    let spent = tasks
        .iter()
        .filter_map(|task| task.spent)
        .reduce(|mut sum, spent| {
            sum += spent;
            sum
        });
    Ok(RunFigures {
        schema: SCHEMA,
        run: run.started.run,
        version: run.started.version.clone(),
        began_unix_s: run.started.unix_s,
        seed: run.started.seed,
        ended: run.ended.is_some(),
        elapsed_ns: run.elapsed_ns(),
        settings: run.started.settings.clone(),
        spent,
        notes: notes(run, &tasks),
        tasks,
    })
}

/// The records of a task in the cache, except its trials.
struct TaskRecords {
    conditions: Vec<(String, String)>,
    evidence: DecisionFigures,
}

impl TaskRecords {
    fn read(cache: &Cache, run: &Run, task: &RunTask<'_>) -> Result<TaskRecords, CacheError> {
        // The decision of the run itself is used, because a later run may have decided differently. If the record of
        // the run contains no decisions, as in a run with very many tasks, the current decision is used instead.
        let keeps = |task: &TaskEnded| task.winner.is_some();
        let keeps = run
            .ended
            .as_ref()
            .is_some_and(|ended| ended.tasks.iter().any(keeps));
        let winner = match task.ended {
            Some(ended) if keeps => ended.winner.clone(),
            _ => cache.winner(task.key)?,
        };
        let confirmations = cache.confirmations(task.key)?;
        Ok(TaskRecords {
            conditions: cache
                .key(task.key)?
                .as_ref()
                .map(conditions)
                .unwrap_or_default(),
            evidence: DecisionFigures::new(winner, &confirmations, run.started.run),
        })
    }
}

fn figures(run: &Run, task: &RunTask<'_>, trials: &[Trial], known: TaskRecords) -> TaskFigures {
    let number = run.started.run;
    let until_then = trials
        .iter()
        .filter(|trial| trial.place.is_none_or(|place| place.run <= number));
    let all: Vec<&Trial> = until_then.collect();
    let (own, earlier): (Vec<&Trial>, Vec<&Trial>) = all
        .iter()
        .partition(|trial| trial.place.is_some_and(|place| place.run == number));
    let times: Vec<u64> = all
        .iter()
        .filter_map(|trial| Some(trial.outcome.summary()?.median_ns))
        .collect();
    let importance = Importance::new(&all);
    TaskFigures {
        kernel: task.kernel.clone(),
        problem: task.problem.clone(),
        key: task.key.to_string(),
        device: device(&all, &known),
        state: task
            .ended
            .map_or("not recorded as ended".into(), |ended| ended.state.clone()),
        space: task
            .ended
            .map(|ended| ended.space)
            .filter(|space| *space > 0),
        conditions: known.conditions,
        spent: task.ended.map(|ended| ended.spent),
        trials: own.len() as u64,
        earlier_trials: earlier.len() as u64,
        baseline_ns: baseline_ns(&all),
        convergence: Convergence::new(&own, &earlier),
        outcomes: count(&all),
        histogram: Histogram::new(&times),
        heat_maps: heat_maps(&all, &importance.ranking()),
        importance,
        best: best(&all),
        evidence: known.evidence,
    }
}

fn device(trials: &[&Trial], known: &TaskRecords) -> String {
    let winner = known
        .evidence
        .winner
        .as_ref()
        .map(|winner| winner.device.to_string());
    let trial = || trials.first().map(|trial| trial.device.to_string());
    winner.or_else(trial).unwrap_or_else(|| "unknown".into())
}

/// The baseline's time in nanoseconds: the median of one estimate per trial, which is the config's time divided by the
/// config's ratio to the baseline.
fn baseline_ns(trials: &[&Trial]) -> Option<u64> {
    let baseline = |trial: &&Trial| {
        let summary = trial.outcome.summary()?;
        let ratio = summary.ratio_ppm.filter(|ppm| *ppm > 0)? as f64 / 1e6;
        Some((summary.median_ns as f64 / ratio).round() as u64)
    };
    let mut times: Vec<u64> = trials.iter().filter_map(baseline).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

fn notes(run: &Run, tasks: &[TaskFigures]) -> Vec<String> {
    let mut notes = Vec::new();
    if run.started.settings.is_none() {
        notes.push("An earlier version of tune ran, which kept no order of trials, no command and no times of its \
                    parts: there are no curves, and the tasks are all those whose trials belong to no known \
                    run.".to_owned());
    } else if run.ended.is_none() {
        notes.push("This run was cut off, or is still going on: the page shows what is on disk. Decisions are those that stand now.".to_owned());
    }
    if tasks
        .iter()
        .any(|task| task.trials > 0 && task.earlier_trials > 0)
    {
        notes.push("Where earlier runs tried configs under the same key, their trials are in the tables, histograms, importances and heat maps; curves begin with their best time.".to_owned());
    }
    notes
}
