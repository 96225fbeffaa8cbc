//! What a set of observations supports, for each kind of device, kernel and problem.
//!
//! - Observations count only if the tuning key's device is of the kind, and its spec and source are the plan's.
//! - Two tuning keys, say of two drivers, are never mixed: the one with the most observers is decided.
//! - Every completed confirmation counts. One that did not prove its config stops it, so that repeating a
//!   confirmation until it succeeds proves nothing.
//! - Times of two sessions are never compared: if searches disagree, one session has to decide.

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

/// What is known of a kernel on a problem and a kind of device.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskDecision {
    /// Index of the kind in the plan.
    pub kind: usize,
    /// Name of the kernel.
    pub kernel: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// The tuning key that was decided; `None` if nothing was observed.
    pub key: Option<Hash>,
    /// Other tuning keys that devices of the kind have, and that do not count here.
    pub left_out: Vec<LeftOut>,
    /// Numbers of the plan's elements that have this task and of which no attempt has finished it.
    pub unfinished: Vec<u32>,
    /// What each session decided that counts here, by observer.
    pub sessions: Vec<SessionResult>,
    /// The decision.
    pub decision: Decision,
}

/// What one session decided of a task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionResult {
    /// Who measured.
    pub observer: ObserverId,
    /// The stage of its element.
    pub stage: Stage,
    /// Number of its element, in its own plan.
    pub element: u32,
    /// Its last decision; `None` if it has none.
    pub winner: Option<Winner>,
}

/// A tuning key that was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its hash.
    pub key: Hash,
    /// Number of its distinct observers.
    pub observers: usize,
    /// The fields in which it differs from the key that was decided, as `field: value (not value)`.
    pub differs: Vec<String>,
}

/// A decision.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// Nobody has finished it.
    Missing,
    /// Searches have different winners: one session must decide between them.
    Searched {
        /// The winners' configs, sorted.
        finalists: Vec<String>,
    },
    /// Too few distinct observers have proven the config.
    NeedsReplica {
        /// The config.
        config: String,
        /// Number of distinct observers that have.
        have: usize,
    },
    /// Enough distinct observers have proven the config.
    Proven {
        /// The config.
        config: String,
        /// The least favourable observation: the lowest speed-up, the lowest low and the highest high end.
        winner: Box<Winner>,
        /// The distinct observers, sorted.
        observers: Vec<ObserverId>,
    },
    /// A confirmation of the config was completed and did not prove it, or its observers contradict each other: the
    /// baseline stays.
    Stopped {
        /// The config.
        config: String,
        /// Why, in a few words.
        why: String,
    },
    /// Every observer kept the baseline.
    Kept,
}

/// Decides every task of a plan. `plans` are the plan and those it continues, in any order: records of other plans do
/// not count. The tasks are those of `plan`, or of a plan it continues.
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

/// The numbers of a plan's elements of which every task has been finished by an attempt.
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

/// A kernel on a problem and a kind of device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Task {
    kind: usize,
    kernel: String,
    problem: String,
}

/// Every task of the plans, with the kinds of `plan`.
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
