//! What a run is asked for.

use std::path::PathBuf;
use std::time::Duration;

use crate::regime::Regime;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Time for everything; `None` for no limit.
    pub budget: Option<Duration>,
    /// Configs per kernel and problem; `None` for the whole space.
    pub trials: Option<usize>,
    /// Problems, by their text; all of them where none is named.
    pub problems: Vec<String>,
    /// The strategy's name.
    pub strategy: String,
    /// Whether searches start from what the cache knows of the kernel under other conditions.
    pub transfer: bool,
    /// Recordings that searches start from.
    pub transfer_from: Vec<PathBuf>,
    /// Cold or hot; `None` for what is usual on the device.
    pub regime: Option<Regime>,
    /// Seed of everything random.
    pub seed: u64,
    /// Write cpu rows into the package.
    pub write: bool,
    /// Compile threads.
    pub jobs: usize,
    /// Only say what would be done.
    pub dry_run: bool,
}
