//! The elements that the next plan needs.

use std::collections::BTreeMap;

use super::{Decision, TaskDecision};
use crate::plan::{Element, Plan, Stage, TaskRef};

/// The elements of a stage that decisions ask for, of at most `per_element` tasks each: searches that are missing, finals between
/// several finalists, and confirmations of a finalist by further observers, one element for each observer that is
/// missing.
pub fn next(
    plan: &Plan,
    decisions: &[TaskDecision],
    stage: Stage,
    per_element: usize,
) -> Vec<Element> {
    // By kind and copy: the copies of a task must run on different devices, so that they are never in one element.
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
