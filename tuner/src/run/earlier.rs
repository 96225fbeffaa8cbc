//! What was measured before of the same kernel, on another device, for another problem or with other tools: where a
//! search starts from.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kiln_cache::{Cache, CacheError, Outcome, Trial, TuningKey};
use kiln_spec::KernelSpec;
use kiln_spec::space::SearchSpace;

use super::error::ForeignRecording;
use crate::error::Failure;
use crate::task::Task;
use kiln_exchange::recording::{self, Recording};
use kiln_search::{Prior, SpaceView};

/// Sources that a search starts from at most: the nearest ones.
const MAX_SOURCES: usize = 3;

/// Configs that must have worked in a source for it to say something.
pub const MIN_VALID: usize = 5;

/// Earlier results, and where they are from.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier {
    /// The results.
    pub prior: Prior,
    /// Device, problem or file, for people.
    pub from: String,
}

/// Reads recordings that searches are to start from.
///
/// # Errors
/// When a file is not a recording, or no kernel of the run has its parameters.
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

/// Whether a recording has every parameter of a kernel that has a choice.
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

/// What the cache and recorded files know of a task's kernel under other conditions; the nearest first, files before all
/// else, since they were asked for.
///
/// # Errors
/// When the cache cannot be read.
pub fn results(
    cache: &Cache,
    recordings: &[Recording],
    task: &Task<'_>,
    space: &SearchSpace,
) -> Result<Vec<Earlier>, CacheError> {
    let spec = &task.kernel.spec;
    let mut found: Vec<Earlier> = recordings
        .iter()
        .filter_map(|recording| of_recording(recording, spec, space))
        .collect();
    let mut keys = cache.keys(Some(&spec.name))?;
    keys.retain(|key| key.hash() != task.key.hash());
    keys.sort_by_cached_key(|key| (key.distance(&task.key), key.hash()));
    for key in &keys {
        // Recordings were asked for: they all count, and come first.
        if found.len() >= MAX_SOURCES {
            break;
        }
        let prior = of_trials(&cache.trials(key.hash())?, spec, space);
        if says_something(&prior) {
            let from = described(key, &task.key);
            found.push(Earlier { prior, from });
        }
    }
    Ok(found)
}

/// Costs as shares of the baseline's time, so that devices and problems can be compared.
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

/// Whether a failure says something of the config, wherever it is tried.
fn is_the_configs_fault(outcome: &Outcome) -> bool {
    !matches!(
        outcome,
        Outcome::CompilerLost { .. }
            | Outcome::Internal { .. }
            | Outcome::TooFast { .. }
            | Outcome::DeviceLost { .. }
            | Outcome::DiskFull { .. }
    )
}

/// A recording's times, where its parameters have the names and values of the kernel's.
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

/// The config whose parameters have these texts; one that the texts lack must have a single value.
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

/// In what a source differs, in short.
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
