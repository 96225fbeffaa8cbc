//! Finds earlier results from which a search can start. They are results of the same kernel on another device, for
//! another problem, from another machine, or from another tool.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kiln_cache::{CacheError, Outcome, Trial, TuningKey};
use kiln_fleet::Imported;
use kiln_spec::KernelSpec;
use kiln_spec::space::SearchSpace;

use super::context::RunContext;
use super::error::ForeignRecording;
use crate::error::Failure;
use crate::task::Task;
use kiln_exchange::recording::{self, Recording};
use kiln_search::{Prior, SpaceView};

/// Maximum number of sources from which a search starts, except that all recordings that the user specified are used.
/// The remaining places go to the most similar sources.
const MAX_SOURCES: usize = 3;

/// Minimum number of valid configs that a source must have.
pub const MIN_VALID: usize = 5;

/// Earlier results and their origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier {
    /// The results, as costs of configs.
    pub prior: Prior,
    /// A description of the device, problem or file, for messages.
    pub from: String,
}

/// Reads the recorded files from which searches may start.
///
/// # Errors
/// If a file is not a recording, or no kernel of the run has the recorded parameters.
pub fn read(paths: &[PathBuf], tasks: &[Task<'_>]) -> Result<Vec<Recording>, Failure> {
    let recordings = recording::read_all(paths)?;
    for (recording, path) in recordings.iter().zip(paths) {
        if !tasks.iter().any(|task| fits(recording, &task.kernel.spec)) {
            let params = recording.space.params().iter();
            return Err(ForeignRecording {
                path: path.clone(),
                params: params.map(|param| param.name.clone()).collect(),
            }
            .into());
        }
    }
    Ok(recordings)
}

/// Whether a recording contains all parameters of a kernel, except those with a single value.
fn fits(recording: &Recording, spec: &KernelSpec) -> bool {
    let known = |name: &str| {
        recording
            .space
            .params()
            .iter()
            .any(|param| param.name == name)
    };
    spec.params
        .iter()
        .all(|param| param.values.len() == 1 || known(&param.name))
}

/// The results of a task's kernel under other conditions: from recorded files, from the cache, and from other machines.
/// Recorded files come first because the user specified them; the other sources follow, most similar first.
///
/// # Errors
/// If the cache cannot be read.
pub fn results(
    context: &RunContext<'_>,
    task: &Task<'_>,
    space: &SearchSpace,
) -> Result<Vec<Earlier>, CacheError> {
    let spec = &task.kernel.spec;
    let recordings = context.recordings.iter();
    let mut found: Vec<Earlier> = recordings
        .filter_map(|recording| of_recording(recording, spec, space))
        .collect();
    for source in sources(context, task)? {
        // The user specified the recordings, so all of them are used, and they come first.
        if found.len() >= MAX_SOURCES {
            break;
        }
        let prior = match &source {
            Source::Here(key) => of_trials(&context.cache.trials(key.hash())?, spec, space),
            Source::Pulled(one) => of_trials(&one.trials, spec, space),
        };
        if says_something(&prior) {
            let from = source.described(&task.key);
            found.push(Earlier { prior, from });
        }
    }
    Ok(found)
}

/// Where earlier results are stored.
enum Source<'a> {
    /// In this cache, under another key.
    Here(TuningKey),
    /// In results that were pulled from another machine, possibly under the same key.
    Pulled(&'a Imported),
}

/// The sources for a task's kernel, most similar first. Among equally similar sources, this cache comes before other
/// machines.
fn sources<'a>(context: &RunContext<'a>, task: &Task<'_>) -> Result<Vec<Source<'a>>, CacheError> {
    let kernel = &task.kernel.spec.name;
    let mut keys = context.cache.keys(Some(kernel))?;
    keys.retain(|key| key.hash() != task.key.hash());
    let pulled = context.pulled.iter();
    let pulled = pulled
        .filter(|one| one.key.kernel() == kernel)
        .map(Source::Pulled);
    let mut sources: Vec<Source<'_>> = keys.into_iter().map(Source::Here).chain(pulled).collect();
    // The sort is stable, so sources with the same key keep their order.
    sources.sort_by_cached_key(|source| {
        let key = source.key();
        (key.distance(&task.key), key.hash())
    });
    Ok(sources)
}

impl Source<'_> {
    fn key(&self) -> &TuningKey {
        match self {
            Source::Here(key) => key,
            Source::Pulled(one) => &one.key,
        }
    }

    /// A short description of how the source differs from the task's key.
    fn described(&self, wanted: &TuningKey) -> String {
        let Source::Pulled(one) = self else {
            return described(self.key(), wanted);
        };
        let who = format!(
            "pulled from {}",
            one.observer.get("host").unwrap_or(&one.author)
        );
        match one.key.hash() == wanted.hash() {
            true => who,
            false => format!("{}, {who}", described(&one.key, wanted)),
        }
    }
}

/// The stored results as costs. A cost is relative to the baseline's time, so the costs on different devices and
/// problems are comparable.
fn of_trials(trials: &[Trial], spec: &KernelSpec, space: &SearchSpace) -> Prior {
    let one = |trial: &Trial| {
        let config = spec.parse_config(&trial.config).ok()?;
        let index = space.index_of(&config)?;
        let cost = match &trial.outcome {
            Outcome::Measured(summary) => Some(summary.ratio_ppm? as f64 / 1e6),
            failed if trial.stands() && is_the_configs_fault(failed) => None,
            _ => return None,
        };
        Some((index, cost))
    };
    Prior {
        costs: trials.iter().filter_map(one).collect(),
    }
}

/// Whether a failure is caused by the config and not by the machine or the device.
fn is_the_configs_fault(outcome: &Outcome) -> bool {
    !matches!(
        outcome,
        Outcome::CompilerLost { .. }
            | Outcome::Internal { .. }
            | Outcome::TooFast { .. }
            | Outcome::DeviceLost { .. }
            | Outcome::DiskFull { .. }
            | Outcome::NotInstalled { .. }
            | Outcome::OutOfTime
            | Outcome::NotComparable { .. }
    )
}

/// The recorded results of the configs that are also in the kernel's search space; `None` if fewer than [`MIN_VALID`]
/// of these configs are valid.
fn of_recording(recording: &Recording, spec: &KernelSpec, space: &SearchSpace) -> Option<Earlier> {
    let params = recording.space.params();
    let mut costs = BTreeMap::new();
    for (index, entry) in recording.entries.iter().enumerate() {
        let positions = recording.space.positions(index);
        let text = |name: &str| {
            let place = params.iter().position(|param| param.name == name)?;
            Some(params[place].texts[positions[place] as usize].clone())
        };
        if let Some(index) = index_of_texts(spec, space, &text) {
            costs.insert(index, entry.time_ms);
        }
    }
    let prior = Prior { costs };
    says_something(&prior).then(|| Earlier {
        prior,
        from: recording.name.clone(),
    })
}

/// The index of the config with these parameter values as text. A parameter without a text must have a single value.
fn index_of_texts(
    spec: &KernelSpec,
    space: &SearchSpace,
    text: &dyn Fn(&str) -> Option<String>,
) -> Option<usize> {
    let of_axis = |axis: &kiln_spec::TunableParam| {
        let only = || (axis.values.len() == 1).then(|| axis.values[0].to_string());
        Some(format!("{}={}", axis.name, text(&axis.name).or_else(only)?))
    };
    let texts: Option<Vec<String>> = space.axes().iter().map(of_axis).collect();
    space.index_of(&spec.parse_config(&texts?.join(",")).ok()?)
}

fn says_something(prior: &Prior) -> bool {
    prior.valid().count() >= MIN_VALID
}

/// A short description of how a source's key differs from the task's key.
fn described(key: &TuningKey, wanted: &TuningKey) -> String {
    let field = |name: &str| key.field(name).to_owned();
    let mut parts = Vec::new();
    if key.field("device.name") != wanted.field("device.name") {
        parts.push(field("device.name"));
    }
    if key.field("problem") != wanted.field("problem") {
        parts.push(field("problem"));
    }
    if parts.is_empty() {
        let differences = key.differences(wanted);
        let names: Vec<&str> = differences.iter().map(|one| one.field.as_str()).collect();
        return format!("another {}", names.join(", "));
    }
    parts.join(", ")
}
