//! Search curves, in a file format for comparing tuners. A curve gives the best time that a search had found after each
//! number of tried configs.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::recording::RecordedTrial;

/// Name and version of the format.
const SCHEMA: &str = "search-curves/1";

/// Why a text is not a file of curves.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CurvesError {
    /// The text is not JSON, or lacks a field.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The text has another schema.
    #[error("its schema is `{found}`, but this version reads `{SCHEMA}`")]
    Schema {
        /// The schema in the text.
        found: String,
    },
}

/// The curves of all search runs of one command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Curves {
    schema: String,
    /// The tuner that searched.
    pub tuner: String,
    objective: String,
    minimize: bool,
    max_evals: usize,
    /// The search runs.
    pub runs: Vec<SearchRun>,
}

impl Curves {
    /// The curves of runs that may each try `budget` configs.
    pub fn new(budget: usize, runs: Vec<SearchRun>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            tuner: concat!("kiln ", env!("CARGO_PKG_VERSION")).to_owned(),
            objective: "time".to_owned(),
            minimize: true,
            max_evals: budget,
            runs,
        }
    }

    /// Reads curves from their JSON text.
    ///
    /// # Errors
    /// The text is not JSON, lacks a field, or has another schema.
    pub fn parse(text: &str) -> Result<Curves, CurvesError> {
        let curves: Curves = serde_json::from_str(text)?;
        match curves.schema == SCHEMA {
            true => Ok(curves),
            false => Err(CurvesError::Schema {
                found: curves.schema,
            }),
        }
    }
}

/// An improvement of the best time: the number of configs tried so far, the new best time in milliseconds, and the
/// tuning cost so far in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveStep(pub usize, pub f64, pub f64);

/// One search on a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRun {
    /// Name of the recording.
    pub space: String,
    /// Name of the search strategy.
    pub strategy: String,
    /// Seed of the search.
    pub seed: u64,
    /// Number of configs that were tried.
    pub evals: usize,
    /// Number of these configs that failed.
    pub failed: usize,
    /// The improvements of the best time, in order.
    pub best: Vec<CurveStep>,
    /// The recorded cost of compiling, verifying and timing the tried configs, in milliseconds.
    pub cost_ms: f64,
    /// The time that the strategy took to choose configs, in seconds.
    pub wall_s: f64,
    /// `ok`, or the error that ended the search.
    pub status: String,
    /// The configs that were tried, as indices into the recording.
    #[serde(skip)]
    pub tried: Vec<usize>,
}

impl SearchRun {
    /// A run that has tried nothing yet.
    pub fn new(space: &str, strategy: &str, seed: u64) -> Self {
        Self {
            space: space.to_owned(),
            strategy: strategy.to_owned(),
            seed,
            evals: 0,
            failed: 0,
            best: Vec::new(),
            cost_ms: 0.0,
            wall_s: 0.0,
            status: "ok".to_owned(),
            tried: Vec::new(),
        }
    }

    /// Adds the result of a config that is tried for the first time.
    pub fn count(&mut self, entry: RecordedTrial) {
        self.evals += 1;
        self.cost_ms += entry.cost_ms;
        self.failed += usize::from(entry.time_ms.is_none());
        let best = self.best.last().map_or(f64::INFINITY, |step| step.1);
        if let Some(time) = entry.time_ms.filter(|&time| time < best) {
            self.best.push(CurveStep(self.evals, time, self.cost_ms));
        }
    }

    /// The best time after `evals` configs, in milliseconds; `None` if none of them has a time.
    pub fn best_after(&self, evals: usize) -> Option<f64> {
        let steps = self.best.iter().take_while(|step| step.0 <= evals);
        steps.last().map(|step| step.1)
    }
}
