//! Determines which observers are distinct.

use std::collections::{BTreeMap, BTreeSet};

use crate::fold::Source;
use crate::plan::Distinct;

/// The properties that distinguish an observer from others.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObserverId {
    /// The device's UUID; `None` if it has none.
    pub uuid: Option<String>,
    /// The host's name; `None` if it is unknown.
    pub host: Option<String>,
    /// Fingerprint of the worker key.
    pub key: String,
}

impl ObserverId {
    /// Creates the observer with the properties `uuid` and `host` of `observer`, and a worker key.
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

/// Returns the largest set of observers that are certainly distinct from each other, sorted.
///
/// Two observers are distinct if they have different devices. Two devices that both have a UUID are different if the
/// UUIDs differ. Otherwise they are different if their hosts differ. With [`Distinct::Key`], the worker keys must
/// differ too. An observer without UUID and host is never part of the set.
pub fn distinct_observers(
    observers: impl IntoIterator<Item = ObserverId>,
    by: Distinct,
) -> Vec<ObserverId> {
    let observers: BTreeSet<ObserverId> = observers.into_iter().collect();
    let with_host = |o: &'_ ObserverId| o.host.is_some().then(|| o.uuid.clone()).flatten();
    let on_a_host: BTreeSet<String> = observers.iter().filter_map(with_host).collect();
    let may_be_anywhere = |o: &ObserverId| {
        let uuid = o.uuid.as_ref();
        uuid.is_some_and(|uuid| !on_a_host.contains(uuid))
    };
    // A device whose host is unknown may be the device of an observer of which only the host is known. The set
    // therefore contains only one of these two kinds of observers.
    let any = observers.iter().any(may_be_anywhere);
    let without_hosts_alone = observers.iter().filter(|o| !any || o.uuid.is_some());
    let on_hosts = observers.iter().filter(|o| !may_be_anywhere(o));
    let found = [
        distinct_of(without_hosts_alone.cloned().collect(), by),
        distinct_of(on_hosts.cloned().collect(), by),
    ];
    found.into_iter().max_by_key(Vec::len).unwrap_or_default()
}

/// Like [`distinct_observers`], for observers that meet a condition: either none of them has only a host, or all
/// observers with a UUID have a known host.
fn distinct_of(observers: BTreeSet<ObserverId>, by: Distinct) -> Vec<ObserverId> {
    let with_uuid = observers.iter().filter(|o| o.uuid.is_some());
    let hosts: BTreeSet<_> = with_uuid.filter_map(|o| o.host.as_ref()).collect();
    // An observer without a UUID may be any device of its host.
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

/// The largest set of pairs of a device and a key in which no two pairs share a device or a key (a maximum bipartite
/// matching, by augmenting paths).
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

/// Assigns a key to a device, and moves other devices to other keys if necessary. Returns whether this succeeded.
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

/// The distinct observers among the sources.
pub(super) fn of_sources<'a>(
    sources: impl Iterator<Item = &'a Source>,
    by: Distinct,
) -> Vec<ObserverId> {
    distinct_observers(sources.map(ObserverId::of), by)
}
