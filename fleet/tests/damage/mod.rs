//! Tests that damage to a store has only limited effects, for every kind of store.
#![allow(dead_code, clippy::unwrap_used)]

use kiln_cache::Record;
use kiln_cache::journal::encode_after;
use kiln_cache::store::Position;
use kiln_fleet::collect::{Fork, Gap};
use kiln_fleet::segment::{MAX_SEGMENT_BYTES, Segment};
use kiln_fleet::{ObjectStore, Plan, PrivateKey, fold, object};

use crate::samples::{
    Memory, Random, collected, frames, header, key, observer, plan, problem, publish, put, session,
    trial,
};

/// A store whose objects can be changed without the store's own checks.
pub trait Spoiled {
    /// The store.
    fn store(&self) -> &dyn ObjectStore;
    /// Replaces the bytes of an object.
    fn overwrite(&self, name: &str, bytes: &[u8]);
    /// Removes an object.
    fn remove(&self, name: &str);
}

impl Spoiled for Memory {
    fn store(&self) -> &dyn ObjectStore {
        self
    }

    fn overwrite(&self, name: &str, bytes: &[u8]) {
        self.put(name, bytes).unwrap();
    }

    fn remove(&self, name: &str) {
        self.0.lock().unwrap().remove(name).unwrap();
    }
}

/// Publishes the searches of six devices.
pub fn six_searches(store: &dyn ObjectStore) -> Plan {
    let worker = PrivateKey::generate().unwrap();
    let plan = plan(1, 6, &[&worker]);
    for n in 0..6 {
        let records = session(&key(0, &problem(n)), "A=1", Ok(1_100_000));
        publish(store, &worker, &plan, (n as u32, n), &records);
    }
    plan
}

/// Damages one object of six segments after the other. A merge must report the damage and lose only that segment.
pub fn is_named_and_costs_that_segment_alone(spoiled: &dyn Spoiled, cases: usize) {
    let store = spoiled.store();
    let plan = six_searches(store);
    let names = store.list(&object::segments(&plan.id())).unwrap().names;
    let read = |name: &String| store.get(name, MAX_SEGMENT_BYTES).unwrap().unwrap();
    let good: Vec<(String, Vec<u8>)> = names
        .iter()
        .map(|name| (name.clone(), read(name)))
        .collect();
    let mut random = Random(1);
    for case in 0..cases {
        let (name, right) = &good[random.below(good.len() as u64) as usize];
        let mut bytes = right.clone();
        if case % 4 == 3 {
            bytes.truncate(random.below(bytes.len() as u64) as usize);
        } else {
            let bit = random.below(bytes.len() as u64 * 8) as usize;
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        spoiled.overwrite(name, &bytes);
        let collected = collected(store, &plan);
        spoiled.overwrite(name, right);
        let segment = name.strip_suffix(".sig").unwrap_or(name);
        // White space at the end of an armored signature has no meaning.
        let accepted = collected.segments.len() == 6 && name.ends_with(".sig");
        if accepted && bytes.trim_ascii_end() == right.trim_ascii_end() {
            continue;
        }
        let rejected: Vec<&str> = collected.rejected.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(rejected, [segment], "{name}");
        assert_eq!(collected.segments.len(), 5);
    }
}

/// Journals with two histories, and with a gap. A merge must report both and keep all records.
pub fn leaves_both_histories(spoiled: &dyn Spoiled, cases: u64) {
    let key = key(0, &problem(0));
    let store = spoiled.store();
    for case in 0..cases {
        let worker = PrivateKey::generate().unwrap();
        let plan = plan(1, 1, &[&worker]);
        let shared: Vec<Record> = (0..=case % 5)
            .map(|n| Record::End(trial(&key, n)))
            .collect();
        let (_, end) = encode_after(&shared, Position::start(7)).unwrap();
        let header = header(&plan.id(), 0, observer(1), 1);
        let put = |frames: &[u8]| {
            let (_, bytes) = Segment::build(&header, frames).unwrap();
            put(store, &worker, &bytes)
        };
        let root = put(&frames(7, &shared));
        for branch in [100, 200] {
            let own = [Record::End(trial(&key, branch + case))];
            put(&encode_after(&own, end).unwrap().0);
        }
        let both = collected(store, &plan);
        let fork = Fork {
            journal: 7,
            sequence: end.sequence + 1,
        };
        assert_eq!((both.forks.as_slice(), both.gaps.len()), (&[fork][..], 0));
        assert_eq!(fold(&both.segments).len(), shared.len() + 2);
        spoiled.remove(&root);
        let gap = Gap {
            journal: 7,
            first: 1,
            last: end.sequence,
        };
        let rest = collected(store, &plan);
        assert_eq!(rest.gaps, [gap]);
        // The signature without an object is reported.
        assert_eq!(rest.rejected.len(), 1);
    }
}
