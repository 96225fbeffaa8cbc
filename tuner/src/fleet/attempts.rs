//! Reads what earlier attempts at an element left in the store: which tasks they decided, their trials, and their
//! incomplete confirmations. An attempt is one run of an element, which is the work of one machine in a fleet's plan.
//!
//! Every attempt announces its journal with an empty object in the store. Anyone who can write to the store can create
//! an announcement, so announcements are only hints. The content of a journal is used only if it is signed with a
//! worker key of the plan.

use std::collections::BTreeMap;

use kiln_cache::record::ConfirmProcess;
use kiln_cache::{Cache, Record, Trial, TuningKey};
use kiln_fleet::{ObjectStore, Observations, Plan, Segment, collect, decide, fold, object};
use kiln_spec::Hash;

use super::FleetError;
use crate::error::Failure;
use crate::run::own_trials;

/// The journal segments that earlier attempts at an element left in the store.
#[derive(Debug, Default)]
pub struct Attempts {
    segments: Vec<Segment>,
}

impl Attempts {
    /// Reads the segments of all announced journals. Segments that fail verification are skipped here; `tune fleet
    /// merge` reports them.
    ///
    /// # Errors
    /// If the store cannot be read, or the plan is invalid.
    pub fn read(
        store: &dyn ObjectStore,
        plan: &Plan,
        element: u32,
    ) -> Result<Attempts, FleetError> {
        let folder = folder(&plan.id(), element);
        let announced = store.list(&folder)?.names;
        let journals = announced.iter().filter_map(|name| {
            let journal = name.strip_prefix(&folder)?;
            u64::from_str_radix(journal, 16).ok()
        });
        let journals: Vec<u64> = journals.collect();
        let mut segments = collect::segments_of(store, plan, &journals)?;
        segments.retain(|segment| segment.header.element == element);
        Ok(Attempts { segments })
    }

    /// Whether the attempts finished the element, by the same rule as in a merge.
    pub fn have_finished(&self, plan: &Plan, element: u32) -> bool {
        decide::finished(plan, &self.observations()).contains(&element)
    }

    /// The tasks of the element that no attempt has decided, each as `KERNEL (PROBLEM)`.
    pub fn undecided(&self, plan: &Plan, element: u32) -> Vec<String> {
        let decisions = kiln_fleet::decide(plan, &[], &self.observations()).into_iter();
        let open = decisions.filter(|task| task.unfinished.contains(&element));
        open.map(|task| format!("{} ({})", task.kernel, task.problem))
            .collect()
    }

    /// All records of the attempts.
    pub fn observations(&self) -> Observations {
        fold(&self.segments)
    }

    /// The trials of attempts by one observer (host and device), grouped by tuning key. Only trials with a final
    /// outcome are included.
    fn of(&self, observer: &BTreeMap<String, String>) -> Vec<(&TuningKey, Vec<Trial>)> {
        let (mut keys, mut trials) = (BTreeMap::new(), BTreeMap::new());
        let own = self
            .segments
            .iter()
            .filter(|segment| segment.header.observer == *observer);
        for placed in own.flat_map(|segment| &segment.records) {
            match &*placed.record {
                Record::Key(key) => _ = keys.insert(key.hash(), key),
                Record::End(trial) if trial.stands() => {
                    trials.insert(trial.id(), trial.clone());
                }
                _ => {}
            }
        }
        let mut of_keys: BTreeMap<Hash, Vec<Trial>> = BTreeMap::new();
        for trial in trials.into_values() {
            of_keys.entry(trial.key).or_default().push(trial);
        }
        let with_key = |(hash, trials)| Some((*keys.get(&hash)?, trials));
        of_keys.into_iter().filter_map(with_key).collect()
    }
}

/// The confirming processes of one earlier attempt by an observer: of the attempt with the most such processes. A
/// confirmation that ran out of time resumes from them. Processes of different attempts are never mixed, because
/// processes of different attempts may have the same number.
fn confirmations(earlier: &Attempts, observer: &BTreeMap<String, String>) -> Vec<ConfirmProcess> {
    let mut of_journals: BTreeMap<u64, Vec<ConfirmProcess>> = BTreeMap::new();
    let own = earlier.segments.iter();
    for segment in own.filter(|segment| segment.header.observer == *observer) {
        let found = of_journals.entry(segment.journal).or_default();
        found.extend(
            segment
                .records
                .iter()
                .filter_map(|placed| match &*placed.record {
                    Record::ConfirmProcess(process) => Some(process.clone()),
                    _ => None,
                }),
        );
    }
    let most = of_journals.into_values().max_by_key(Vec::len);
    most.unwrap_or_default()
}

/// Announces the journal of an attempt. `journal` is the identity of the journal, which becomes the name of the
/// announcement.
///
/// # Errors
/// If the store cannot be written.
pub fn announce(
    store: &dyn ObjectStore,
    plan: &Plan,
    element: u32,
    journal: u64,
) -> Result<(), FleetError> {
    let name = format!("{}{journal:016x}", folder(&plan.id(), element));
    Ok(store.put(&name, b"")?)
}

/// Copies the trials and the confirmations of earlier attempts by the same observer into the cache of this attempt.
///
/// # Errors
/// If the cache cannot be written.
pub fn take_up(
    cache: &Cache,
    earlier: &Attempts,
    observer: &BTreeMap<String, String>,
) -> Result<(), Failure> {
    for (key, trials) in earlier.of(observer) {
        own_trials::take_up(cache, key, trials)?;
    }
    for process in confirmations(earlier, observer) {
        // The cache contains the key only if a trial of the task was copied. Without trials, the search starts from
        // scratch, so the confirmation cannot be resumed.
        if cache.key(process.key)?.is_some() {
            cache.confirm_process(process)?;
        }
    }
    Ok(())
}

/// The prefix of the names of an element's announcements.
fn folder(plan: &str, element: u32) -> String {
    format!("{}/attempts/{plan}/{element}/", object::ROOT)
}
