//! The options of `tune run`.

use std::path::PathBuf;
use std::time::Duration;

use crate::regime::Regime;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Total time; `None` for no limit.
    pub budget: Option<Duration>,
    /// Configs per kernel and problem; `None` for the whole space.
    pub trials: Option<usize>,
    /// Problems, as text; all of them if empty.
    pub problems: Vec<String>,
    /// The strategy's name.
    pub strategy: String,
    /// Whether searches start from cached results of the kernel under other conditions.
    pub transfer: bool,
    /// Recordings that searches start from.
    pub transfer_from: Vec<PathBuf>,
    /// Cold or hot; `None` for the default of the device.
    pub regime: Option<Regime>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Write cpu rows into the package.
    pub write: bool,
    /// Compile threads.
    pub jobs: usize,
    /// Only print the plan.
    pub dry_run: bool,
}
