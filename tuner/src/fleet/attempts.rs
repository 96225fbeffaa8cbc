//! The attempts at an element so far: whether they finished it, and the trials from which the next one goes on.
//!
//! Every attempt announces its journal by an empty object. Announcements are hints, which anybody who writes to the
//! store can make; what a journal holds counts only if a worker of the plan signed it.

use std::collections::BTreeMap;

use kiln_cache::{Cache, Record, Trial, TuningKey};
use kiln_fleet::segment::MAX_SEGMENT_BYTES;
use kiln_fleet::sign::MAX_SIGNATURE_BYTES;
use kiln_fleet::{
    ObjectStore, Observations, Plan, PublicKey, Segment, decide, fold, object, verify,
};

use super::FleetError;
use crate::error::Failure;

/// What earlier attempts left in the store.
#[derive(Debug, Default)]
pub struct Attempts {
    segments: Vec<Segment>,
}

impl Attempts {
    /// Reads the segments of the announced journals. Those that do not verify are passed over: a merge names them.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn read(
        store: &dyn ObjectStore,
        plan: &Plan,
        element: u32,
    ) -> Result<Attempts, FleetError> {
        let id = plan.id();
        let folder = folder(&id, element);
        let mut attempts = Attempts::default();
        for announced in store.list(&folder)?.names {
            let journal = announced.strip_prefix(&folder).unwrap_or_default();
            let prefix = format!("{}{journal}/", object::segments(&id));
            for name in store.list(&prefix)?.names {
                if name.ends_with(".seg") {
                    attempts.segments.extend(segment(store, plan, &name)?);
                }
            }
        }
        let of_element =
            |segment: &Segment| segment.header.plan == id && segment.header.element == element;
        attempts.segments.retain(of_element);
        attempts
            .segments
            .sort_by_key(|segment| (segment.journal, segment.header.first));
        Ok(attempts)
    }

    /// Whether they finished the element, by the rule of a merge.
    pub fn have_finished(&self, plan: &Plan, element: u32) -> bool {
        decide::finished(plan, &self.observations()).contains(&element)
    }

    /// All of their records.
    pub fn observations(&self) -> Observations {
        fold(&self.segments)
    }

    /// The keys in clear, and the trials that stand, of attempts by the same observer.
    fn of(&self, observer: &BTreeMap<String, String>) -> (Vec<&TuningKey>, Vec<Trial>) {
        let (mut keys, mut trials) = (Vec::new(), BTreeMap::new());
        let own = self
            .segments
            .iter()
            .filter(|segment| segment.header.observer == *observer);
        for placed in own.flat_map(|segment| &segment.records) {
            match &*placed.record {
                Record::Key(key) => keys.push(key),
                Record::End(trial) if trial.stands() => {
                    // Its place in a run means nothing in another one.
                    let trial = Trial {
                        place: None,
                        ..trial.clone()
                    };
                    trials.insert(trial.id(), trial);
                }
                _ => {}
            }
        }
        (keys, trials.into_values().collect())
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

/// Puts the trials of earlier attempts by the same device into the cache of this one. Those of other devices are left
/// out: times of different devices are never compared.
///
/// # Errors
/// If the cache cannot be written.
pub fn take_up(
    cache: &Cache,
    earlier: &Attempts,
    observer: &BTreeMap<String, String>,
) -> Result<(), Failure> {
    let (keys, trials) = earlier.of(observer);
    for key in keys {
        cache.remember_key(key)?;
    }
    Ok(cache.finish_all(trials)?)
}

/// A segment with a valid signature by a worker of the plan; nothing if it has none.
fn segment(
    store: &dyn ObjectStore,
    plan: &Plan,
    name: &str,
) -> Result<Option<Segment>, FleetError> {
    let (Some(bytes), Some(signature)) = (
        store.get(name, MAX_SEGMENT_BYTES)?,
        store.get(&object::signature(name), MAX_SIGNATURE_BYTES)?,
    ) else {
        return Ok(None);
    };
    let signature = String::from_utf8_lossy(&signature);
    let mut keys = plan
        .worker_keys
        .iter()
        .filter_map(|line| PublicKey::parse(line).ok());
    if !keys.any(|key| verify(&bytes, &signature, &key).is_ok()) {
        return Ok(None);
    }
    Ok(Segment::parse(&bytes, &object::name_of(&bytes)).ok())
}

/// The names of an element's announcements begin with this.
fn folder(plan: &str, element: u32) -> String {
    format!("{}/attempts/{plan}/{element}/", object::ROOT)
}
