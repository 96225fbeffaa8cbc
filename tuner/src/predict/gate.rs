//! Decides whether the model may make predictions for a kernel. The decision depends on how well the model orders
//! measurements of the same kernel on GPUs in the target table.

use kiln_cache::{Cache, Trial, TuningKey};
use kiln_spec::targets::{self, KnownTarget, Multiprocessor};
use serde::Serialize;
use thiserror::Error;

use super::{Facts, Score, estimate};
use crate::error::Failure;
use kiln_project::TunedKernel;

/// Minimum number of measured configs of a device and problem that are needed to score the model.
pub const MIN_TRIALS: usize = 20;

/// The score of the model on the measurements of one device for one problem.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The device, as architecture and product name.
    pub device: String,
    /// The problem, as text.
    pub problem: String,
    /// How well the predicted order agrees with the measured times.
    pub score: Score,
}

/// Scores the model on all stored measurements of the current kernel, for each GPU in the target table and each
/// problem.
///
/// # Errors
/// If the cache cannot be read.
pub fn judge(kernel: &TunedKernel, cache: &Cache) -> Result<Vec<Judged>, Failure> {
    let mut judged = Vec::new();
    for key in cache.keys(Some(&kernel.spec.name))? {
        let Some(known) = measured_on(kernel, &key) else {
            continue;
        };
        let score = score(kernel, &key, known, &cache.trials(key.hash())?);
        judged.extend(score.map(|score| Judged {
            device: format!("{}/{}", key.field("device.arch"), key.field("device.name")),
            problem: key.field("problem").to_owned(),
            score,
        }));
    }
    Ok(judged)
}

/// Why the model makes no predictions for a kernel.
#[derive(Clone, Debug, Error)]
pub enum Refusal {
    /// There are not enough measurements to score the model.
    #[error(
        "nothing to judge the model by: no known GPU has measured {MIN_TRIALS} configs of this kernel"
    )]
    NotJudged,
    /// The model is not better than random order on some device and problem.
    #[error(
        "the model does not beat random order on {} ({}): {}", .0.device, .0.problem, .0.score
    )]
    NoBetterThanRandom(Judged),
}

/// Checks whether the model may make predictions for a kernel: it must beat random order in every score.
///
/// # Errors
/// Why the model may not make predictions.
pub fn offered(judged: &[Judged]) -> Result<(), Refusal> {
    if judged.is_empty() {
        return Err(Refusal::NotJudged);
    }
    match judged.iter().find(|judged| !judged.score.beats_random()) {
        None => Ok(()),
        Some(worst) => Err(Refusal::NoBetterThanRandom(worst.clone())),
    }
}

/// The GPU target on which the results under a key were measured; `None` if the key is not of the current kernel or not
/// of a known GPU.
fn measured_on(kernel: &TunedKernel, key: &TuningKey) -> Option<&'static KnownTarget> {
    let same = key.field("source") == kernel.source.hash().to_string()
        && key.field("spec") == kernel.spec.hash().to_string();
    let known = targets::target(key.field("device.arch")).filter(|_| same)?;
    (known.multiprocessor != Multiprocessor::Host
        && key.field("device.backend") == known.backend.name())
    .then_some(known)
}

fn score(
    kernel: &TunedKernel,
    key: &TuningKey,
    known: &KnownTarget,
    trials: &[Trial],
) -> Option<Score> {
    let problem = kernel.spec.parse_problem(key.field("problem")).ok()?;
    let pair = |trial: &Trial| {
        let measured = trial.outcome.summary()?.median_ns as f64;
        let config = kernel.spec.parse_config(&trial.config).ok()?;
        let facts = Facts::of(&kernel.spec, &config, &problem)?;
        Some((estimate(&facts, known)?.seconds, measured))
    };
    let pairs: Vec<_> = trials.iter().filter_map(pair).collect();
    (pairs.len() >= MIN_TRIALS)
        .then(|| Score::new(&pairs))
        .flatten()
}
