//! The options of `tune run`.

use std::path::PathBuf;
use std::time::Duration;

use crate::task::{ElementTask, Task};
use kiln_lab::regime::Regime;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Time limit of the run; `None` for no limit.
    pub budget: Option<Duration>,
    /// Maximum number of configs per kernel and problem; `None` for the whole space.
    pub trials: Option<usize>,
    /// The problems to tune, as text; all problems if empty.
    pub problems: Vec<String>,
    /// The name of the search strategy.
    pub strategy: String,
    /// Whether searches start from stored results of the kernel under other conditions.
    pub transfer: bool,
    /// Files with recordings from which searches start.
    pub transfer_from: Vec<PathBuf>,
    /// Cold or hot caches; `None` for the default of the device.
    pub regime: Option<Regime>,
    /// The seed of all random choices.
    pub seed: u64,
    /// Whether rows for the cpu are written into the package.
    pub write: bool,
    /// Number of compile threads.
    pub jobs: usize,
    /// Whether to print the plan and exit.
    pub dry_run: bool,
    /// The tasks of the fleet element (one unit of work in a fleet's plan) that this run tunes. If this is empty, the
    /// run tunes all tasks of the project.
    pub element: Vec<ElementTask>,
    /// The number of claims in a whole fleet plan; `None` for the number of claims of this run. A claim is a statement
    /// that a config is faster than the baseline. On average, at most one in a hundred proven claims is wrong.
    pub claims: Option<u32>,
    /// Whether the run writes its rows into tables at the end.
    pub bake: bool,
}

impl RunOptions {
    /// The maximum number of configs to try for a task; `None` for the whole space.
    pub fn most_trials(&self, task: &Task<'_>) -> Option<usize> {
        self.listed(task).map(<[_]>::len).or(self.trials)
    }

    /// The configs to try for a task, as text, if a fleet element lists them; `None` to search the whole space.
    pub fn listed(&self, task: &Task<'_>) -> Option<&[String]> {
        let (kernel, problem) = (&task.kernel.spec.name, task.problem.to_string());
        let mut tasks = self.element.iter();
        let found = tasks.find(|one| one.kernel == *kernel && one.problem == problem);
        found
            .map(|one| one.configs.as_slice())
            .filter(|configs| !configs.is_empty())
    }
}
