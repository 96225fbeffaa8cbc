//! The options of `tune run`.

use std::path::PathBuf;
use std::time::Duration;

use crate::task::{ElementTask, Task};
use kiln_lab::regime::Regime;

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
    /// The tasks of an element of a fleet's plan; every task of the project if empty.
    pub element: Vec<ElementTask>,
    /// The number of claims among which at most one in a hundred may be wrong: those of a whole plan. `None` for the claims
    /// of this run.
    pub claims: Option<u32>,
    /// Whether the run ends by writing its rows into tables.
    pub bake: bool,
}

impl RunOptions {
    /// The only configs to try for a task, as text; `None` for the whole space.
    pub fn listed(&self, task: &Task<'_>) -> Option<&[String]> {
        let (kernel, problem) = (&task.kernel.spec.name, task.problem.to_string());
        let mut tasks = self.element.iter();
        let found = tasks.find(|one| one.kernel == *kernel && one.problem == problem);
        found
            .map(|one| one.configs.as_slice())
            .filter(|configs| !configs.is_empty())
    }
}
