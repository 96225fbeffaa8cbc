//! Formats the state of a plan as a table and as JSON.

use std::collections::BTreeSet;

use kiln_cache::Winner;
use kiln_cache::record::Verdict;
use kiln_exchange::fleet::{PlanStatus, SessionStatus, Speedup, TaskState, TaskStatus};
use kiln_fleet::{
    Decision, ObjectStore, Plan, Seen, SessionResult, Stage, TaskDecision, collect, decide, fold,
};

use crate::columns::columns;
use crate::error::Failure;
use crate::fleet::FleetError;
use crate::fleet::state::PlanState;
use crate::run::clock::unix_s;

/// The numbers of the plan's elements that are finished according to the store.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn finished(store: &dyn ObjectStore, plan: &Plan) -> Result<BTreeSet<u32>, Failure> {
    let collected =
        collect(store, plan, unix_s(), &mut Seen::default()).map_err(FleetError::from)?;
    Ok(decide::finished(plan, &fold(&collected.segments)))
}

/// The state of a plan, as `tune fleet status --json` prints it and `tune report --fleet` reads it.
pub(super) fn status(plan: &Plan, state: &PlanState, signed_by: Option<String>) -> PlanStatus {
    PlanStatus {
        plan: plan.id(),
        signed_by,
        elements: plan.elements.len(),
        finished: state.finished.iter().copied().collect(),
        replicas: plan.replicas,
        journals: state.observations.sources().count(),
        records: state.observations.len(),
        root: state.observations.root_hash(),
        tasks: state
            .decisions
            .iter()
            .map(|task| task_status(plan, task))
            .collect(),
        complaints: state.complaints(),
    }
}

fn task_status(plan: &Plan, task: &TaskDecision) -> TaskStatus {
    let mut status = TaskStatus {
        kind: plan.kinds[task.kind].name.clone(),
        kernel: task.kernel.clone(),
        problem: task.problem.clone(),
        state: TaskState::Missing,
        config: None,
        why: None,
        devices: 0,
        speedup: None,
        unfinished_elements: task.unfinished.clone(),
        sessions: task.sessions.iter().map(session_status).collect(),
    };
    match &task.decision {
        Decision::Searched { .. } => status.state = TaskState::Searched,
        Decision::NeedsReplica { config, have } => {
            status.state = TaskState::NeedsReplica;
            (status.config, status.devices) = (Some(config.clone()), *have);
        }
        Decision::Proven {
            config,
            winner,
            observers,
        } => {
            status.state = TaskState::Proven;
            (status.config, status.devices) = (Some(config.clone()), observers.len());
            status.speedup = speedup(winner);
        }
        Decision::Stopped { config, why } => {
            status.state = TaskState::Stopped;
            (status.config, status.why) = (Some(config.clone()), Some(why.clone()));
        }
        Decision::Kept => status.state = TaskState::Kept,
        Decision::Missing if !task.sessions.is_empty() => {
            status.why = Some("an attempt ended before it was decided".to_owned());
        }
        _ => {}
    }
    status
}

fn session_status(session: &SessionResult) -> SessionStatus {
    let stage = match session.stage {
        Stage::Search => "search",
        Stage::Final => "final",
        Stage::Replicate => "replicate",
    };
    SessionStatus {
        host: session.observer.host.clone(),
        uuid: session.observer.uuid.clone(),
        stage: stage.into(),
        element: session.element,
        config: session.winner.as_ref().map(|winner| winner.config.clone()),
        speedup: session.winner.as_ref().and_then(speedup),
    }
}

/// The proven speed-up of a winner; `None` if the baseline was kept.
fn speedup(winner: &Winner) -> Option<Speedup> {
    match winner.verdict {
        Verdict::Proven {
            speedup_ppm,
            low_ppm,
            high_ppm,
        } => Some(Speedup {
            ppm: speedup_ppm,
            low_ppm,
            high_ppm,
        }),
        Verdict::BaselineKept { .. } => None,
    }
}

/// The table of a plan's tasks, with one line per task in the order of the device kinds.
pub(super) fn table(status: &PlanStatus, decisions: &[TaskDecision]) -> String {
    let head = ["kind", "kernel", "problem", "state", "speed-up", "devices"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for task in &status.tasks {
        let why = task.why.as_ref().map(|why| format!(": {why}"));
        let speedup = task.speedup.map(|speedup| speedup.to_string());
        lines.push(vec![
            task.kind.clone(),
            task.kernel.clone(),
            task.problem.clone(),
            format!("{}{}", task.state, why.unwrap_or_default()),
            speedup.unwrap_or_else(|| "-".to_owned()),
            devices(task, status.replicas),
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

/// The number of devices that have proven the row, out of the number that the plan requires; `-` if the baseline is
/// kept.
fn devices(task: &TaskStatus, replicas: u32) -> String {
    match task.state {
        TaskState::Stopped | TaskState::Kept => "-".to_owned(),
        _ => format!("{} of {replicas}", task.devices),
    }
}
