//! Curves of the best time found, in the schema that tuners are compared by.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::recording::RecordedTrial;

/// Name and version of the format.
const SCHEMA: &str = "search-curves/1";

/// Why a text holds no curves.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CurvesError {
    /// It is not JSON, or lacks a field.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It is of another schema.
    #[error("its schema is `{found}`, this version reads `{SCHEMA}`")]
    Schema {
        /// The schema that it names.
        found: String,
    },
}

/// All runs of one command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Curves {
    schema: String,
    /// The tuner that searched.
    pub tuner: String,
    objective: String,
    minimize: bool,
    max_evals: usize,
    /// The runs.
    pub runs: Vec<SearchRun>,
}

impl Curves {
    /// Runs with this budget.
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

    /// Curves from their text.
    ///
    /// # Errors
    /// If it is not JSON, or of another schema.
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

/// An improvement: configs tried so far, the time in milliseconds, the tuning cost so far in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveStep(pub usize, pub f64, pub f64);

/// One search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRun {
    /// The recording's name.
    pub space: String,
    /// The strategy's name.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
    /// Configs tried.
    pub evals: usize,
    /// Of these, how many failed.
    pub failed: usize,
    /// The improvements.
    pub best: Vec<CurveStep>,
    /// The recorded cost of compiling, verifying and timing.
    pub cost_ms: f64,
    /// The time that the strategy itself took.
    pub wall_s: f64,
    /// `ok`, or the error.
    pub status: String,
    /// The configs tried, by their index in the recording.
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

    /// Counts a config that is tried for the first time.
    pub fn count(&mut self, entry: RecordedTrial) {
        self.evals += 1;
        self.cost_ms += entry.cost_ms;
        self.failed += usize::from(entry.time_ms.is_none());
        let best = self.best.last().map_or(f64::INFINITY, |step| step.1);
        if let Some(time) = entry.time_ms.filter(|&time| time < best) {
            self.best.push(CurveStep(self.evals, time, self.cost_ms));
        }
    }

    /// The best time after that many configs.
    pub fn best_after(&self, evals: usize) -> Option<f64> {
        let steps = self.best.iter().take_while(|step| step.0 <= evals);
        steps.last().map(|step| step.1)
    }
}
