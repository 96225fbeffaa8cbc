//! The attempts at an element so far: whether they finished it, and the trials from which the next one goes on.
//!
//! Every attempt announces its journal by an empty object. Announcements are hints, which anybody who writes to the
//! store can make; what a journal holds counts only if a worker of the plan signed it.

use std::collections::BTreeMap;

use kiln_cache::{Cache, Record, Trial, TuningKey};
use kiln_fleet::{ObjectStore, Observations, Plan, Segment, collect, decide, fold, object};
use kiln_spec::Hash;

use super::FleetError;
use crate::error::Failure;
use crate::run::own_trials;

/// What earlier attempts left in the store.
#[derive(Debug, Default)]
pub struct Attempts {
    segments: Vec<Segment>,
}

impl Attempts {
    /// Reads the segments of the announced journals. Those that do not verify are passed over: a merge names them.
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

    /// Whether they finished the element, by the rule of a merge.
    pub fn have_finished(&self, plan: &Plan, element: u32) -> bool {
        decide::finished(plan, &self.observations()).contains(&element)
    }

    /// All of their records.
    pub fn observations(&self) -> Observations {
        fold(&self.segments)
    }

    /// The trials of attempts by the same observer, with their keys.
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

/// Announces the journal of an attempt, under its first record's identity.
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

/// Puts the trials of earlier attempts by the same device into the cache of this one.
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
    Ok(())
}

/// The names of an element's announcements begin with this.
fn folder(plan: &str, element: u32) -> String {
    format!("{}/attempts/{plan}/{element}/", object::ROOT)
}
