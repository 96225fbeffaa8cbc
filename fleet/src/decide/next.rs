//! Creates the elements of the next plan.

use std::collections::BTreeMap;

use super::{Decision, TaskDecision};
use crate::plan::{Element, Plan, Stage, TaskRef};

/// Creates the elements of `stage` that the decisions require, with at most `per_element` tasks each:
/// - Search elements have the tasks that no source has finished.
/// - Final elements have the tasks with several finalists.
/// - Replication elements have the tasks whose config needs more observers. Such a task is in one element per missing
///   observer.
pub fn next(
    plan: &Plan,
    decisions: &[TaskDecision],
    stage: Stage,
    per_element: usize,
) -> Vec<Element> {
    // Tasks by kind and copy. The copies of a task must run on different devices, so they are never in one element.
    let mut tasks: BTreeMap<(usize, usize), Vec<TaskRef>> = BTreeMap::new();
    for decision in decisions {
        let (copies, configs) = match (&decision.decision, stage) {
            (Decision::Missing, Stage::Search) => (1, Vec::new()),
            (Decision::Searched { finalists }, Stage::Final) => (1, finalists.clone()),
            (Decision::NeedsReplica { config, have }, Stage::Replicate) => {
                let wanted = usize::try_from(plan.replicas).unwrap_or(usize::MAX);
                (wanted.saturating_sub(*have), vec![config.clone()])
            }
            _ => continue,
        };
        for copy in 0..copies {
            tasks
                .entry((decision.kind, copy))
                .or_default()
                .push(TaskRef {
                    kernel: decision.kernel.clone(),
                    problem: decision.problem.clone(),
                    configs: configs.clone(),
                });
        }
    }
    let mut elements = Vec::new();
    for ((kind, _), tasks) in tasks {
        elements.extend(tasks.chunks(per_element.max(1)).map(|tasks| Element {
            stage,
            kind,
            shard: 0,
            tasks: tasks.to_vec(),
        }));
    }
    elements
}
