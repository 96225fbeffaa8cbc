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
use crate::run::proposals::{Proposals, SearchInputs, batch_size};
use crate::run::report::TaskReport;
use crate::run::space_view::KernelSpace;
use crate::run::trials::EvaluateError;
use crate::task::Task;
use kiln_measure::{ArmId, Fault};
use kiln_search::{Guide, Told, stop};

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
                outcome: Outcome::NotInstalled { text },
                ..
            } => SearchFailure::Task(text),
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
    let listed = listed_configs(context, task, space)?;
    let threads = context.pool.current_num_threads();
    let inputs = SearchInputs {
        spec: &task.kernel.spec,
        problem: task.problem,
        space,
        strategy: &context.options.strategy,
        seed: context.options.seed,
        most,
        batch: batch_size(context.info.key.backend, threads),
    };
    let mut proposals = Proposals::new(&inputs, &view, &guide, listed)
        .map_err(|error| SearchFailure::Task(error.to_string()))?;
    let mut end = stop::Stop::default();
    evaluator.spent.strategy_ns += nanoseconds(choosing.elapsed());
    while proposals.tried() < most {
        if !slice.may_search() {
            recall(evaluator, slice)?;
            return Ok(false);
        }
        let choosing = Instant::now();
        let batch = proposals.next_batch();
        evaluator.spent.strategy_ns += nanoseconds(choosing.elapsed());
        let asked = &batch.configs;
        if asked.is_empty() {
            break;
        }
        if batch.is_chosen && end.after(proposals.outlook(), asked.len()) {
            context.reporter.notice(&format!(
                "{}: stopped after {} configs: the next configs are expected to gain less than {:.1} %, which \
                 no measurement can prove",
                task.name(),
                proposals.tried(),
                stop::MIN_OUTLOOK * 100.0
            ));
            break;
        }
        let configs: Vec<Config> = asked.iter().map(|&index| space.config(index)).collect();
        let evaluated = evaluator.batch(&configs, slice.search_until)?;
        let told = told(space, &evaluated);
        let choosing = Instant::now();
        proposals.tell(&batch, &told);
        evaluator.spent.strategy_ns += nanoseconds(choosing.elapsed());
        let tried = proposals.tried() as u64;
        context.reporter.tried(tried, best(evaluator));
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
