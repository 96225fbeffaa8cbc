//! `tune run --dry-run`: lists the tasks of a run and the number of configs that each may try.

use kiln::compiler::Compiler;
use kiln::device::DeviceInfo;
use kiln_spec::space::SearchSpace;
use serde::Serialize;

use crate::error::Failure;
use crate::run::RunOptions;
use crate::task::{self, Conditions, TaskError};
use kiln_project::Project;

/// The plan of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunPlan {
    device: String,
    compiler: String,
    /// The time limit in seconds; `None` if there is none.
    budget_s: Option<u64>,
    strategy: String,
    seed: u64,
    tasks: Vec<PlannedTask>,
}

/// A kernel and a problem that a run would tune.
#[derive(Clone, Debug, Serialize)]
struct PlannedTask {
    kernel: String,
    problem: String,
    /// Maximum number of configs that are tried.
    trials: usize,
    /// Number of configs in the search space, or in the enumerated sample of it.
    configs: usize,
    /// A description of the size of the whole space, if only a sample of it was enumerated.
    sampled: Option<String>,
    #[serde(skip)]
    name: String,
}

/// The plan of a run on a device.
///
/// # Errors
/// If a requested problem is not declared, or a search space cannot be built.
pub fn plan(
    project: &Project,
    options: &RunOptions,
    info: &DeviceInfo,
    compiler: &dyn Compiler,
) -> Result<RunPlan, Failure> {
    let conditions = Conditions::new(info, compiler, options.regime);
    let mut tasks = Vec::new();
    for task in task::only(task::plan(&project.kernels, &conditions), &options.problems)? {
        let space = SearchSpace::build(&task.kernel.spec, task.problem, &info.limits);
        let space = space.map_err(|error| TaskError::Space {
            task: task.name(),
            error,
        })?;
        tasks.push(PlannedTask {
            kernel: task.kernel.spec.name.clone(),
            problem: task.problem.to_string(),
            trials: options.trials.unwrap_or(usize::MAX).min(space.len()),
            configs: space.len(),
            sampled: space.sampled().map(|sampled| sampled.to_string()),
            name: task.name(),
        });
    }
    Ok(RunPlan {
        device: info.key.to_string(),
        compiler: compiler.identity().to_string(),
        budget_s: options.budget.map(|budget| budget.as_secs()),
        strategy: options.strategy.clone(),
        seed: options.seed,
        tasks,
    })
}

impl RunPlan {
    /// The plan as text, with one line per task.
    pub fn to_text(&self) -> String {
        let budget = self
            .budget_s
            .map_or("no time limit".into(), |seconds| format!("{seconds} s"));
        let mut text = format!(
            "device {}\ncompiler {}\nbudget {budget}, strategy {}, seed {}\n",
            self.device, self.compiler, self.strategy, self.seed
        );
        for task in &self.tasks {
            text += &format!(
                "{}: {} of {} configs\n",
                task.name, task.trials, task.configs
            );
            if let Some(sampled) = &task.sampled {
                text += &format!("  {sampled}\n");
            }
        }
        text
    }
}
