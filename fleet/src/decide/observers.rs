//! Which observers are distinct.

use std::collections::{BTreeMap, BTreeSet};

use crate::fold::Source;
use crate::plan::Distinct;

/// An observer, as far as it can be told from others.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObserverId {
    /// The device's uuid, if it has one.
    pub uuid: Option<String>,
    /// The host's name, if known.
    pub host: Option<String>,
    /// Fingerprint of the worker key.
    pub key: String,
}

impl ObserverId {
    /// The observer with these properties (`uuid`, `host`) and worker key.
    pub fn new(observer: &BTreeMap<String, String>, key: &str) -> ObserverId {
        ObserverId {
            uuid: observer.get("uuid").cloned(),
            host: observer.get("host").cloned(),
            key: key.into(),
        }
    }

    pub(super) fn of(source: &Source) -> ObserverId {
        ObserverId::new(&source.observer, &source.author)
    }
}

/// As many observers as are certainly distinct from each other, sorted.
///
/// Two are distinct if their devices differ: their uuids, or their hosts if one has no uuid. For [`Distinct::Key`]
/// their worker keys differ too.
pub fn distinct_observers(
    observers: impl IntoIterator<Item = ObserverId>,
    by: Distinct,
) -> Vec<ObserverId> {
    let observers: BTreeSet<ObserverId> = observers.into_iter().collect();
    let with_uuid = observers.iter().filter(|o| o.uuid.is_some());
    let hosts: BTreeSet<_> = with_uuid.filter_map(|o| o.host.as_ref()).collect();
    // One without a uuid may be any of its host.
    let device = |o: &ObserverId| match (&o.uuid, &o.host) {
        (Some(uuid), _) => Some((true, uuid.clone())),
        (None, Some(host)) if !hosts.contains(host) => Some((false, host.clone())),
        _ => None,
    };
    let mut keys_of: BTreeMap<_, BTreeMap<String, ObserverId>> = BTreeMap::new();
    for observer in &observers {
        if let Some(device) = device(observer) {
            let of_device = keys_of.entry(device).or_default();
            of_device
                .entry(observer.key.clone())
                .or_insert_with(|| observer.clone());
        }
    }
    let devices: Vec<BTreeMap<String, ObserverId>> = keys_of.into_values().collect();
    match by {
        Distinct::Device => devices
            .into_iter()
            .filter_map(|d| d.into_values().next())
            .collect(),
        Distinct::Key => matched(&devices),
    }
}

/// The most pairs of a device and a key, no two with the same device or the same key (a maximum bipartite matching,
/// by augmenting paths).
fn matched(devices: &[BTreeMap<String, ObserverId>]) -> Vec<ObserverId> {
    let mut by_key: BTreeMap<&str, usize> = BTreeMap::new();
    for device in 0..devices.len() {
        augment(devices, device, &mut BTreeSet::new(), &mut by_key);
    }
    let of_pair = |(key, device): (&str, usize)| devices.get(device)?.get(key).cloned();
    let mut observers: Vec<_> = by_key.into_iter().filter_map(of_pair).collect();
    observers.sort_unstable();
    observers
}

/// Gives a device a key, moving other devices to other keys if need be.
fn augment<'d>(
    devices: &'d [BTreeMap<String, ObserverId>],
    device: usize,
    tried: &mut BTreeSet<&'d str>,
    by_key: &mut BTreeMap<&'d str, usize>,
) -> bool {
    for key in devices[device].keys() {
        if !tried.insert(key) {
            continue;
        }
        let free = match by_key.get(key.as_str()) {
            None => true,
            Some(&other) => augment(devices, other, tried, by_key),
        };
        if free {
            by_key.insert(key, device);
            return true;
        }
    }
    false
}

/// The distinct observers of sources.
pub(super) fn of_sources<'a>(
    sources: impl Iterator<Item = &'a Source>,
    by: Distinct,
) -> Vec<ObserverId> {
    distinct_observers(sources.map(ObserverId::of), by)
}
