//! The search of one task: evaluates the configs that the strategy requests, and reports the results to the strategy.

use std::time::Instant;

use kiln_cache::Outcome;
use kiln_spec::Config;
use kiln_spec::space::SearchSpace;

use crate::error::Failure;
use crate::run::budget::Slice;
use crate::run::clock::nanoseconds;
use crate::run::context::RunContext;
use crate::run::decide::standing;
use crate::run::earlier;
use crate::run::evaluate::{Evaluated, Evaluator};
use crate::run::report::TaskReport;
use crate::run::space_view::KernelSpace;
use crate::run::trials::EvaluateError;
use crate::task::Task;
use kiln_measure::{ArmId, Fault};
use kiln_search::{Guide, Strategy, Told, stop};

/// Maximum number of configs of earlier runs that race again before the play-off.
const RECALLED: usize = 8;

/// Why a task ends early.
pub(crate) enum SearchFailure {
    /// The task cannot be carried out, for this reason. The other tasks continue.
    Task(String),
    /// The time of the run ended, so the task cannot go on.
    OutOfTime,
    /// Results cannot be stored, so the run ends.
    Storage(Box<Failure>),
}

impl From<EvaluateError> for SearchFailure {
    fn from(error: EvaluateError) -> SearchFailure {
        match error {
            EvaluateError::Race(fault) => fault.into(),
            EvaluateError::Cache(error) => SearchFailure::Storage(Box::new(error.into())),
        }
    }
}

impl From<Fault> for SearchFailure {
    fn from(fault: Fault) -> SearchFailure {
        match fault {
            Fault {
                outcome: Outcome::DiskFull { text },
                ..
            } => SearchFailure::Storage(Box::new(Failure::DiskFull(text))),
            Fault {
                outcome: Outcome::OutOfTime,
                ..
            } => SearchFailure::OutOfTime,
            Fault {
                arm: Some(ArmId(0)),
                outcome,
            } => SearchFailure::Task(format!("the baseline failed while it was timed: {outcome}")),
            Fault { outcome, .. } => SearchFailure::Task(outcome.to_string()),
        }
    }
}

impl From<kiln_cache::CacheError> for SearchFailure {
    fn from(error: kiln_cache::CacheError) -> SearchFailure {
        SearchFailure::Storage(Box::new(error.into()))
    }
}

/// Runs the strategy until `most` configs are tried, nothing is left to try, or the time ends. Returns whether the
/// search is complete.
pub(crate) fn search(
    evaluator: &mut Evaluator<'_>,
    space: &SearchSpace,
    slice: Slice,
    most: usize,
    report: &mut TaskReport,
) -> Result<bool, SearchFailure> {
    let (context, task) = (evaluator.context, evaluator.task);
    let view = KernelSpace::new(space);
    let choosing = Instant::now();
    let guide = guide(context, task, space, report)?;
    let name = &context.options.strategy;
    let mut strategy = kiln_search::with_guide(name, &view, most, context.rng(task, 2), &guide)
        .map_err(|error| SearchFailure::Task(error.to_string()))?;
    let mut end = stop::Stop::default();
    let mut tried = tell_baseline(task, space, strategy.as_mut());
    let listed = listed_configs(context, task, space)?;
    let is_listed = listed.is_some();
    let mut first = listed.unwrap_or_else(|| first_configs(task, space, &guide));
    first.truncate(most.saturating_sub(tried));
    evaluator.spent.strategy_ns += nanoseconds(choosing.elapsed());
    // A batch has at least two configs per compile thread, so one slow compile does not leave the other threads idle.
    // If the configs of a batch race together in the same processes, the batch is also large enough that starting these
    // processes takes only a small part of the time.
    let least = if evaluator.kept.is_some() { 16 } else { 4 };
    let batch = (context.pool.current_num_threads() * 2).max(least);
    while tried < most {
        if !slice.may_search() {
            recall(evaluator, slice)?;
            return Ok(false);
        }
        let choosing = Instant::now();
        let by_author = !first.is_empty();
        let asked = if by_author {
            first.drain(..batch.min(first.len())).collect()
        } else if is_listed {
            Vec::new()
        } else {
            strategy.ask(batch.min(most - tried))
        };
        evaluator.spent.strategy_ns += nanoseconds(choosing.elapsed());
        if asked.is_empty() {
            break;
        }
        if !by_author && end.after(strategy.outlook(), asked.len()) {
            context.reporter.notice(&format!(
                "{}: stopped after {tried} configs: the next configs are expected to gain less than {:.1} %, which \
                 no measurement can prove",
                task.name(),
                stop::MIN_OUTLOOK * 100.0
            ));
            break;
        }
        let configs: Vec<Config> = asked.iter().map(|&index| space.config(index)).collect();
        let evaluated = evaluator.batch(&configs, slice.search_until)?;
        let told = told(space, &evaluated);
        tried += asked.len();
        let choosing = Instant::now();
        strategy.tell(&told);
        evaluator.spent.strategy_ns += nanoseconds(choosing.elapsed());
        context.reporter.tried(tried as u64, best(evaluator));
        if told.len() < asked.len() {
            // The time ended before all configs of the batch were evaluated.
            recall(evaluator, slice)?;
            return Ok(false);
        }
    }
    recall(evaluator, slice)?;
    Ok(true)
}

/// The results of a batch in the form that strategies accept.
fn told(space: &SearchSpace, evaluated: &[Evaluated]) -> Vec<Told> {
    let told = evaluated.iter().filter_map(|one| {
        Some(Told {
            index: space.index_of(&one.config)?,
            cost: one.cost,
        })
    });
    told.collect()
}

/// The earlier results from which the search starts. Their descriptions are added to the report.
fn guide(
    context: &RunContext<'_>,
    task: &Task<'_>,
    space: &SearchSpace,
    report: &mut TaskReport,
) -> Result<Guide, SearchFailure> {
    if !context.options.transfer || context.options.strategy != "auto" {
        return Ok(Guide::default());
    }
    let earlier = earlier::results(context, task, space)?;
    let unused = |name: &&String| !earlier.iter().any(|one| one.from == **name);
    for name in context
        .recordings
        .iter()
        .map(|one| &one.name)
        .filter(unused)
    {
        context.reporter.notice(&format!(
            "{}: {name} is not used: it has fewer than {} valid configs of this space",
            task.name(),
            earlier::MIN_VALID
        ));
    }
    report.starts_from = earlier.iter().map(|one| one.from.clone()).collect();
    Ok(Guide {
        priors: earlier.into_iter().map(|one| one.prior).collect(),
        ..Guide::default()
    })
}

/// The configs that a fleet element lists for the task; `None` if the element lists none, or if the run does not work
/// on an element.
fn listed_configs(
    context: &RunContext<'_>,
    task: &Task<'_>,
    space: &SearchSpace,
) -> Result<Option<Vec<usize>>, SearchFailure> {
    let spec = &task.kernel.spec;
    let Some(listed) = context.options.listed(task) else {
        return Ok(None);
    };
    let index = |text: &String| {
        let config = spec.parse_config(text);
        let config = config.map_err(|error| SearchFailure::Task(error.to_string()))?;
        space.index_of(&config).ok_or_else(|| {
            SearchFailure::Task(format!(
                "the plan lists `{text}`, which is not in the space of this device\nhelp: `tune space {}` describes it",
                spec.name
            ))
        })
    };
    listed.iter().map(index).collect::<Result<_, _>>().map(Some)
}

/// The configs that the spec lists to be tried first, except the baseline and configs with an earlier result.
fn first_configs(task: &Task<'_>, space: &SearchSpace, guide: &Guide) -> Vec<usize> {
    let spec = &task.kernel.spec;
    let known = |index: usize| {
        let is_baseline = !spec.baseline_is_another_entry()
            && space.index_of(&spec.baseline.config) == Some(index);
        is_baseline
            || guide
                .priors
                .iter()
                .any(|one| one.costs.contains_key(&index))
    };
    let mut first = Vec::new();
    for index in spec
        .try_first
        .iter()
        .filter_map(|config| space.index_of(config))
    {
        if !known(index) && !first.contains(&index) {
            first.push(index);
        }
    }
    first
}

/// Reports the baseline to the strategy, if it is a config of the tuned entry, so the strategy does not request this
/// config again. Returns the number of configs that were reported.
fn tell_baseline(task: &Task<'_>, space: &SearchSpace, strategy: &mut dyn Strategy) -> usize {
    let spec = &task.kernel.spec;
    let index = if spec.baseline_is_another_entry() {
        None
    } else {
        space.index_of(&spec.baseline.config)
    };
    let told: Vec<_> = index
        .map(|index| Told {
            index,
            cost: Some(1.0),
        })
        .into_iter()
        .collect();
    strategy.tell(&told);
    told.len()
}

/// Races the best configs of earlier turns and runs again, so the play-off compares all configs that were ever
/// measured. The proven config comes first, because only a config that raced against it can replace it.
fn recall(evaluator: &mut Evaluator<'_>, slice: Slice) -> Result<(), SearchFailure> {
    let task = evaluator.task;
    let mut measured: Vec<(u64, String)> = evaluator
        .context
        .cache
        .trials(task.key.hash())?
        .into_iter()
        .filter_map(|trial| Some((trial.outcome.summary()?.ratio_ppm?, trial.config)))
        .collect();
    measured.sort();
    let proven = standing(evaluator)?.map(|winner| winner.config);
    let others = measured.into_iter().map(|(_, config)| config);
    let others = others.filter(|config| proven.as_ref() != Some(config));
    let parsed = proven
        .clone()
        .into_iter()
        .chain(others)
        .take(RECALLED)
        .filter_map(|text| task.kernel.spec.parse_config(&text).ok());
    evaluator.recall(&parsed.collect::<Vec<_>>(), slice.confirm_until)?;
    Ok(())
}

fn best(evaluator: &Evaluator<'_>) -> Option<f64> {
    let costs = evaluator.tournament.raced().iter().map(|raced| raced.cost);
    costs.min_by(f64::total_cmp).map(|cost| 1.0 / cost)
}
