//! `tune run --dry-run`: lists the tasks of a run and the number of configs that each may try.

use kiln::compiler::Compiler;
use kiln::device::DeviceInfo;
use kiln_spec::space::SearchSpace;

use crate::error::Failure;
use crate::run::RunOptions;
use crate::task::{self, Conditions, TaskError};
use kiln_project::Project;

/// The plan of a run as text, with one line per task.
///
/// # Errors
/// If a requested problem is not declared, or a search space cannot be built.
pub fn to_text(
    project: &Project,
    options: &RunOptions,
    info: &DeviceInfo,
    compiler: &dyn Compiler,
) -> Result<String, Failure> {
    let mut text = format!("device {}\ncompiler {}\n", info.key, compiler.identity());
    let budget = options.budget.map_or("no time limit".into(), |budget| {
        format!("{} s", budget.as_secs())
    });
    text += &format!(
        "budget {budget}, strategy {}, seed {}\n",
        options.strategy, options.seed
    );
    let tasks = task::plan(
        &project.kernels,
        &Conditions::new(info, compiler, options.regime),
    );
    for task in task::only(tasks, &options.problems)? {
        let space = SearchSpace::build(&task.kernel.spec, task.problem, &info.limits);
        let space = space.map_err(|error| TaskError::Space {
            task: task.name(),
            error,
        })?;
        let trials = options.trials.unwrap_or(usize::MAX).min(space.len());
        text += &format!("{}: {trials} of {} configs\n", task.name(), space.len());
        if let Some(sampled) = space.sampled() {
            text += &format!("  {sampled}\n");
        }
    }
    Ok(text)
}
