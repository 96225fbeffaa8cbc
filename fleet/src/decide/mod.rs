//! Decides, for each kind of device, kernel and problem, what a set of observations proves.
//!
//! - An observation is used only if the device of its tuning key is of the task's kind, and if the key's spec and
//!   source match the plan.
//! - Observations of two tuning keys, for example of two driver versions, are never mixed. The decision uses the key
//!   with the most observers.
//! - Every completed confirmation is used. If one of them does not prove its config, that config cannot become a row,
//!   so nobody can prove a config by repeating its confirmation until it succeeds.
//! - Times of two sessions (a session is one attempt at an element) are never compared. If searches have different
//!   winners, these winners race in one further session.

mod evidence;
mod finding;
mod next;
mod observers;

use std::collections::{BTreeMap, BTreeSet};

use kiln_cache::Winner;
use kiln_spec::Hash;

pub use next::next;
pub use observers::{ObserverId, distinct_observers};

use crate::fold::Observations;
use crate::plan::{Plan, Stage};
use evidence::Evidence;
use finding::Finding;

/// The decision about a kernel on a problem and a kind of device.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskDecision {
    /// Index of the kind in [`Plan::kinds`].
    pub kind: usize,
    /// Name of the kernel.
    pub kernel: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// Hash of the tuning key whose observations the decision uses; `None` if nothing was observed.
    pub key: Option<Hash>,
    /// Other tuning keys of devices of this kind. Their observations are not used.
    pub left_out: Vec<LeftOut>,
    /// Numbers of the plan's elements that have this task and have not finished it in any attempt.
    pub unfinished: Vec<u32>,
    /// The results of the sessions with the tuning key `key`, sorted by observer.
    pub sessions: Vec<SessionResult>,
    /// The decision.
    pub decision: Decision,
}

/// A session's result for a task. A session is one attempt at an element.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionResult {
    /// The observer that measured.
    pub observer: ObserverId,
    /// Stage of the session's element.
    pub stage: Stage,
    /// Number of the session's element, in the session's plan.
    pub element: u32,
    /// The session's last decision; `None` if it has none.
    pub winner: Option<Winner>,
}

/// A tuning key whose observations were not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Hash of the tuning key.
    pub key: Hash,
    /// Number of distinct observers with this key.
    pub observers: usize,
    /// The fields in which this key differs from the key that the decision uses. Each text is `FIELD: VALUE (not
    /// OTHER)`, in which `OTHER` is the value in the used key.
    pub differs: Vec<String>,
}

/// A decision about a task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// No source has finished the task.
    Missing,
    /// The searches have different winners, and one session must decide between them.
    Searched {
        /// The winners' configs, sorted.
        finalists: Vec<String>,
    },
    /// Too few distinct observers have proven the config. Further devices must confirm it.
    NeedsReplica {
        /// The config.
        config: String,
        /// Number of distinct observers that have proven the config.
        have: usize,
    },
    /// Enough distinct observers have proven the config.
    Proven {
        /// The config.
        config: String,
        /// The least favourable combination of the proofs: the lowest speed-up, the lowest low end and the highest high
        /// end of the interval.
        winner: Box<Winner>,
        /// The distinct observers, sorted.
        observers: Vec<ObserverId>,
    },
    /// The baseline stays, because a completed confirmation did not prove the config, or because the observers of the
    /// config contradict each other.
    Stopped {
        /// The config.
        config: String,
        /// The reason, in a few words.
        why: String,
    },
    /// No source has proven a config, so the baseline stays.
    Kept,
}

/// Decides every task of `plan` and of the earlier plans that it continues, which `continued` contains in any order.
/// Records of other plans are ignored.
pub fn decide(plan: &Plan, continued: &[Plan], observations: &Observations) -> Vec<TaskDecision> {
    let plans: BTreeMap<String, &Plan> = continued
        .iter()
        .chain([plan])
        .map(|plan| (plan.id(), plan))
        .collect();
    let mut found: BTreeMap<Task, Vec<Finding<'_>>> = BTreeMap::new();
    for observer in observations.sources() {
        if let Some(of) = plans.get(&observer.source.plan) {
            for (task, finding) in finding::of(of, plan, observer) {
                found.entry(task).or_default().push(finding);
            }
        }
    }
    let id = plan.id();
    let tasks = tasks(plans.values().copied(), plan);
    let decided = tasks.into_iter().map(|task| {
        let findings = found.remove(&task).unwrap_or_default();
        task_decision(plan, &id, task, &findings)
    });
    decided.collect()
}

/// The numbers of the elements of `plan` whose tasks have all been finished, possibly in different attempts.
pub fn finished(plan: &Plan, observations: &Observations) -> BTreeSet<u32> {
    let id = plan.id();
    let mut done: BTreeMap<u32, BTreeSet<(String, String)>> = BTreeMap::new();
    for observer in observations.sources().filter(|o| o.source.plan == id) {
        let tasks = finding::of(plan, plan, observer).into_iter();
        let finished = tasks.filter(|(_, finding)| finding.is_finished());
        let names = finished.map(|(task, _)| (task.kernel, task.problem));
        done.entry(observer.source.element)
            .or_default()
            .extend(names);
    }
    let complete = |(element, tasks): (u32, BTreeSet<(String, String)>)| {
        let wanted = &plan.element(element)?.tasks;
        let has =
            |task: &crate::TaskRef| tasks.contains(&(task.kernel.clone(), task.problem.clone()));
        wanted.iter().all(has).then_some(element)
    };
    done.into_iter().filter_map(complete).collect()
}

/// A task: a kernel on a problem and a kind of device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Task {
    kind: usize,
    kernel: String,
    problem: String,
}

/// All tasks of `plans`. `Task::kind` is an index into the kinds of `plan`. Tasks for kinds that `plan` does not have
/// are left out.
fn tasks<'a>(plans: impl Iterator<Item = &'a Plan>, plan: &Plan) -> BTreeSet<Task> {
    let mut tasks = BTreeSet::new();
    for of in plans {
        for element in &of.elements {
            let Some(kind) = finding::same_kind(of, element.kind, plan) else {
                continue;
            };
            tasks.extend(element.tasks.iter().map(|task| Task {
                kind,
                kernel: task.kernel.clone(),
                problem: task.problem.clone(),
            }));
        }
    }
    tasks
}

fn task_decision(plan: &Plan, id: &str, task: Task, findings: &[Finding<'_>]) -> TaskDecision {
    let unfinished = unfinished(plan, id, &task, findings);
    let by_key = finding::by_key(plan, findings);
    let chosen = by_key.first().map(|(key, _)| *key);
    let fields = |key: Hash| findings.iter().find(|f| f.key.hash() == key).map(|f| f.key);
    let left_out = by_key.iter().skip(1).map(|(key, observers)| LeftOut {
        key: *key,
        observers: *observers,
        differs: match (fields(*key), chosen.and_then(fields)) {
            (Some(key), Some(chosen)) => differences(key, chosen),
            _ => Vec::new(),
        },
    });
    let of_key = findings.iter().filter(|f| Some(f.key.hash()) == chosen);
    let mut sessions: Vec<SessionResult> = of_key.clone().map(Finding::session).collect();
    sessions
        .sort_by(|a, b| (&a.observer, a.stage, a.element).cmp(&(&b.observer, b.stage, b.element)));
    TaskDecision {
        kind: task.kind,
        kernel: task.kernel,
        problem: task.problem,
        key: chosen,
        left_out: left_out.collect(),
        unfinished,
        sessions,
        decision: Evidence::of(of_key).decide(plan),
    }
}

fn differences(key: &kiln_cache::TuningKey, chosen: &kiln_cache::TuningKey) -> Vec<String> {
    let absent = || "none".to_owned();
    let differences = key.differences(chosen).into_iter().map(|d| {
        let (stored, wanted) = (
            d.stored.unwrap_or_else(absent),
            d.wanted.unwrap_or_else(absent),
        );
        format!("{}: {stored} (not {wanted})", d.field)
    });
    differences.collect()
}

fn unfinished(plan: &Plan, id: &str, task: &Task, findings: &[Finding<'_>]) -> Vec<u32> {
    let finished = |number: u32| {
        let mut findings = findings.iter();
        findings.any(|f| f.is_finished() && f.source.plan == id && f.source.element == number)
    };
    let numbered = (0u32..).zip(&plan.elements);
    let with_task = numbered.filter(|(_, element)| {
        element.kind == task.kind && element.task(&task.kernel, &task.problem).is_some()
    });
    with_task
        .map(|(number, _)| number)
        .filter(|number| !finished(*number))
        .collect()
}

#[cfg(test)]
mod tests;
