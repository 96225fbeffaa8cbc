//! The findings of one source about one task. A source is one journal of one attempt at an element.

use std::collections::{BTreeMap, BTreeSet};

use kiln_cache::record::{KeptReason, Verdict};
use kiln_cache::{TuningKey, Winner};
use kiln_spec::Hash;

use super::observers::of_sources;
use super::{ObserverId, SessionResult, Task};
use crate::fold::{Observer, Source};
use crate::plan::{Plan, Stage, TaskRef};

/// The findings of one source about one task under one tuning key.
pub(super) struct Finding<'a> {
    pub source: &'a Source,
    pub key: &'a TuningKey,
    pub stage: Stage,
    /// The source's last decision; `None` if it has none.
    pub last: Option<&'a Winner>,
    /// The winner of the last decision that proved a config; `None` if no decision did.
    pub nominated: Option<&'a Winner>,
    /// All decisions that proved a config.
    pub proven: Vec<&'a Winner>,
    /// Configs that were tested and not proven: the configs that a completed confirmation did not prove. If the source
    /// kept the baseline, and not because of an inconclusive confirmation, all configs that its element was asked to
    /// try are included too.
    pub refuted: BTreeSet<String>,
    /// Whether the source has a conclusive decision, or has completed the search. A decision is not conclusive if its
    /// confirmation ran out of time or was disturbed.
    pub decided: bool,
}

impl<'a> Finding<'a> {
    fn new(source: &'a Source, key: &'a TuningKey, stage: Stage) -> Finding<'a> {
        Finding {
            source,
            key,
            stage,
            last: None,
            nominated: None,
            proven: Vec::new(),
            refuted: BTreeSet::new(),
            decided: false,
        }
    }

    /// The decision of this source, for a report.
    pub fn session(&self) -> SessionResult {
        SessionResult {
            observer: ObserverId::of(self.source),
            stage: self.stage,
            element: self.source.element,
            winner: self.last.cloned(),
        }
    }

    /// Whether the source has finished the task.
    pub fn is_finished(&self) -> bool {
        self.decided
    }
}

/// Returns the index of the kind in `plan` for the same device as the kind `kind` of the plan `of`; `None` if `plan`
/// has no such kind.
pub(super) fn same_kind(of: &Plan, kind: usize, plan: &Plan) -> Option<usize> {
    let device = &of.kinds.get(kind)?.device;
    plan.kinds.iter().position(|kind| kind.device == *device)
}

/// The findings of a source about the tasks of its element. `of` is the plan that the source belongs to, and `plan` is
/// the plan whose tasks are decided. Records are ignored if the element does not have their task, if their device is of
/// another kind, or if the spec or source of their kernel differs from that in `plan`.
pub(super) fn of<'a>(of: &Plan, plan: &Plan, observer: Observer<'a>) -> Vec<(Task, Finding<'a>)> {
    let Some(element) = of.element(observer.source.element) else {
        return Vec::new();
    };
    let Some(kind) = same_kind(of, element.kind, plan) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for key in observer.keys().into_values() {
        let task = element.task(key.kernel(), key.field("problem"));
        let Some(task) = task.filter(|_| counts(plan, kind, key)) else {
            continue;
        };
        let mut finding = Finding::new(observer.source, key, element.stage);
        fill(&mut finding, observer, task);
        let task = Task {
            kind,
            kernel: task.kernel.clone(),
            problem: task.problem.clone(),
        };
        findings.push((task, finding));
    }
    findings
}

/// Whether the device of a tuning key is of this kind, and the plan lists the key's kernel with the same spec and
/// source.
fn counts(plan: &Plan, kind: usize, key: &TuningKey) -> bool {
    let kernel = plan.kernel(key.kernel());
    let same = |kernel: &crate::KernelRef| {
        kernel.spec == key.field("spec") && kernel.source == key.field("source")
    };
    let covers = plan
        .kinds
        .get(kind)
        .is_some_and(|kind| kind.covers(&device_of(key)));
    covers && kernel.is_some_and(same)
}

/// The device of a tuning key, as `backend/arch/name`.
fn device_of(key: &TuningKey) -> String {
    let [backend, arch, name] =
        ["backend", "arch", "name"].map(|part| key.field(&format!("device.{part}")));
    format!("{backend}/{arch}/{name}")
}

fn fill<'a>(finding: &mut Finding<'a>, observer: Observer<'a>, task: &TaskRef) {
    let key = finding.key.hash();
    let confirmed = confirmed(observer, key);
    let mut proven_before = BTreeSet::new();
    for (sequence, winner) in observer.winners() {
        if winner.key != key || !is_of(winner, finding.key) {
            continue;
        }
        let inconclusive = Verdict::BaselineKept {
            reason: KeptReason::Inconclusive,
        };
        finding.decided |= winner.verdict != inconclusive;
        finding.last = Some(winner);
        let tested = confirmed.iter().filter(|(_, first)| **first < sequence);
        let tested = tested.map(|(config, _)| *config);
        match winner.verdict {
            Verdict::Proven { .. } => {
                // A config that the element was not asked to try does not become its winner.
                if task.configs.is_empty() || task.configs.contains(&winner.config) {
                    finding.proven.push(winner);
                    finding.nominated = Some(winner);
                }
                // A config is not refuted if an earlier round proved it and a later round found a faster one.
                proven_before.insert(winner.config.as_str());
                let others = tested.filter(|config| !proven_before.contains(config));
                finding.refuted.extend(others.map(str::to_owned));
            }
            // The confirmation was not completed, so it neither proves nor refutes the config.
            Verdict::BaselineKept {
                reason: KeptReason::Inconclusive,
            } => {}
            Verdict::BaselineKept { .. } => {
                finding.refuted.extend(tested.map(str::to_owned));
                finding.refuted.extend(task.configs.iter().cloned());
            }
        }
    }
    finding.decided |= observer.done().any(|done| done.key == key);
}

/// Whether a winner has the kernel, problem and device of its tuning key.
fn is_of(winner: &Winner, key: &TuningKey) -> bool {
    winner.kernel == key.kernel()
        && winner.problem == key.field("problem")
        && winner.device.to_string() == device_of(key)
}

/// The configs that this source began to confirm, each with the sequence number of its first confirming process.
fn confirmed(observer: Observer<'_>, key: Hash) -> BTreeMap<&str, u64> {
    let mut confirmed = BTreeMap::new();
    for (sequence, process) in observer.confirmations().filter(|(_, p)| p.key == key) {
        let first = confirmed.entry(process.config.as_str()).or_insert(sequence);
        *first = sequence.min(*first);
    }
    confirmed
}

/// Returns the hashes of the findings' tuning keys, each with the number of distinct observers that decided the task
/// under the key. The largest numbers come first; equal numbers are sorted by hash.
pub(super) fn by_key(plan: &Plan, findings: &[Finding<'_>]) -> Vec<(Hash, usize)> {
    let mut sources: BTreeMap<Hash, Vec<&Source>> = BTreeMap::new();
    for finding in findings {
        let of_key = sources.entry(finding.key.hash()).or_default();
        of_key.extend(finding.decided.then_some(finding.source));
    }
    let count = |sources: Vec<&Source>| of_sources(sources.into_iter(), plan.distinct).len();
    let mut keys: Vec<(Hash, usize)> = sources
        .into_iter()
        .map(|(key, sources)| (key, count(sources)))
        .collect();
    keys.sort_by_key(|(key, observers)| (std::cmp::Reverse(*observers), *key));
    keys
}
