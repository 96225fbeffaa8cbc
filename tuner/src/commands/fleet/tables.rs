//! The decisions of a plan as a table, and as JSON.

use std::collections::BTreeSet;

use kiln_cache::Winner;
use kiln_cache::record::Verdict;
use kiln_fleet::{Decision, ObjectStore, Plan, Seen, TaskDecision, collect, decide, fold};
use serde_json::{Value, json};

use crate::columns::columns;
use crate::error::Failure;
use crate::fleet::FleetError;
use crate::run::clock::unix_s;

/// The numbers of a plan's elements that the store shows to be finished.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn finished(store: &dyn ObjectStore, plan: &Plan) -> Result<BTreeSet<u32>, Failure> {
    let collected =
        collect(store, plan, unix_s(), &mut Seen::default()).map_err(FleetError::from)?;
    Ok(decide::finished(plan, &fold(&collected.segments)))
}

/// One line for each task, the kinds one after the other.
pub(super) fn table(plan: &Plan, decisions: &[TaskDecision]) -> String {
    let head = ["kind", "kernel", "problem", "state", "speed-up", "devices"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for task in decisions {
        let (state, speedup, devices) = cells(plan, task);
        lines.push(vec![
            plan.kinds[task.kind].name.clone(),
            task.kernel.clone(),
            task.problem.clone(),
            state,
            speedup,
            devices,
        ]);
    }
    let mut text = columns(&lines);
    for task in decisions {
        for other in &task.left_out {
            text += &format!(
                "{} ({}): {} devices have another key and do not count: {}\n",
                task.kernel,
                task.problem,
                other.observers,
                other.differs.join("; ")
            );
        }
    }
    text
}

fn cells(plan: &Plan, task: &TaskDecision) -> (String, String, String) {
    let of = |have: usize| format!("{have} of {}", plan.replicas);
    let none = || "-".to_owned();
    match &task.decision {
        Decision::Missing => ("missing".into(), none(), of(0)),
        Decision::Searched { finalists } => {
            (format!("{} finalists", finalists.len()), none(), of(0))
        }
        Decision::NeedsReplica { have, .. } => ("needs another device".into(), none(), of(*have)),
        Decision::Proven {
            winner, observers, ..
        } => ("proven".into(), speedup(winner), of(observers.len())),
        Decision::Stopped { why, .. } => (format!("stopped: {why}"), none(), none()),
        Decision::Kept => ("baseline kept".into(), none(), none()),
        _ => (none(), none(), none()),
    }
}

/// `2.00x (1.90x to 2.10x)`.
fn speedup(winner: &Winner) -> String {
    let Verdict::Proven {
        speedup_ppm,
        low_ppm,
        high_ppm,
    } = winner.verdict
    else {
        return "-".into();
    };
    let times = |ppm: u64| format!("{:.2}x", ppm as f64 / 1e6);
    format!(
        "{} ({} to {})",
        times(speedup_ppm),
        times(low_ppm),
        times(high_ppm)
    )
}

/// The decisions as JSON.
pub(super) fn to_json(plan: &Plan, decisions: &[TaskDecision]) -> Vec<Value> {
    let one = |task: &TaskDecision| {
        let (state, config, have) = match &task.decision {
            Decision::Missing => ("missing", None, 0),
            Decision::Searched { .. } => ("searched", None, 0),
            Decision::NeedsReplica { config, have } => ("needs_replica", Some(config), *have),
            Decision::Proven {
                config, observers, ..
            } => ("proven", Some(config), observers.len()),
            Decision::Stopped { config, .. } => ("stopped", Some(config), 0),
            Decision::Kept => ("kept", None, 0),
            _ => ("unknown", None, 0),
        };
        let winner = match &task.decision {
            Decision::Proven { winner, .. } => serde_json::to_value(winner).ok(),
            _ => None,
        };
        json!({
            "kind": plan.kinds[task.kind].name,
            "kernel": task.kernel,
            "problem": task.problem,
            "state": state,
            "config": config,
            "devices": have,
            "winner": winner,
            "unfinished_elements": task.unfinished,
        })
    };
    decisions.iter().map(one).collect()
}
