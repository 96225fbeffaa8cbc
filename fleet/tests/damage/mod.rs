//! Tests that damage to a store has only limited effects, for every kind of store.
#![allow(dead_code, clippy::unwrap_used)]

mod rejected;

pub use rejected::{
    foreign_signatures_are_named, objects_of_expired_plans_are_named,
    objects_that_are_too_large_are_named, swapped_segments_are_named,
};

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

/// Number of segments of [`six_searches`].
const SEARCHES: usize = 6;

/// Publishes the searches of six devices.
fn six_searches(store: &dyn ObjectStore) -> Plan {
    let worker = PrivateKey::generate().unwrap();
    let plan = plan(1, SEARCHES, &[&worker]);
    for n in 0..SEARCHES {
        let records = session(&key(0, &problem(n)), "A=1", Ok(1_100_000));
        publish(store, &worker, &plan, (n as u32, n), &records);
    }
    plan
}

/// The names of all objects of a plan's segments, with their signatures.
fn objects_of(store: &dyn ObjectStore, plan: &Plan) -> Vec<String> {
    store.list(&object::segments(&plan.id())).unwrap().names
}

/// The names of a plan's segments.
fn segments_of(store: &dyn ObjectStore, plan: &Plan) -> Vec<String> {
    let names = objects_of(store, plan).into_iter();
    names.filter(|name| name.ends_with(".seg")).collect()
}

fn read(store: &dyn ObjectStore, name: &str) -> Vec<u8> {
    store.get(name, MAX_SEGMENT_BYTES).unwrap().unwrap()
}

/// In each case, flips a bit of one object of six segments.
pub fn flipped_bits_are_named(spoiled: &dyn Spoiled, cases: usize) {
    let flip = |bytes: &mut Vec<u8>, random: &mut Random| {
        let bit = random.below(bytes.len() as u64 * 8) as usize;
        bytes[bit / 8] ^= 1 << (bit % 8);
    };
    is_named_and_costs_that_segment_alone(spoiled, cases, &flip);
}

/// In each case, cuts off the end of one object of six segments.
pub fn truncated_objects_are_named(spoiled: &dyn Spoiled, cases: usize) {
    let truncate = |bytes: &mut Vec<u8>, random: &mut Random| {
        bytes.truncate(random.below(bytes.len() as u64) as usize);
    };
    is_named_and_costs_that_segment_alone(spoiled, cases, &truncate);
}

/// In each case, damages one object of six segments. A merge must report the damage and lose only that segment.
fn is_named_and_costs_that_segment_alone(
    spoiled: &dyn Spoiled,
    cases: usize,
    damage: &dyn Fn(&mut Vec<u8>, &mut Random),
) {
    let store = spoiled.store();
    let plan = six_searches(store);
    let with_bytes = |name: String| {
        let bytes = read(store, &name);
        (name, bytes)
    };
    let good: Vec<(String, Vec<u8>)> = objects_of(store, &plan)
        .into_iter()
        .map(with_bytes)
        .collect();
    let mut random = Random(1);
    for _ in 0..cases {
        let (name, right) = &good[random.below(good.len() as u64) as usize];
        let mut bytes = right.clone();
        damage(&mut bytes, &mut random);
        spoiled.overwrite(name, &bytes);
        let collected = collected(store, &plan);
        spoiled.overwrite(name, right);
        let segment = name.strip_suffix(".sig").unwrap_or(name);
        // White space at the end of an armored signature has no meaning.
        let accepted = collected.segments.len() == SEARCHES && name.ends_with(".sig");
        if accepted && bytes.trim_ascii_end() == right.trim_ascii_end() {
            continue;
        }
        let rejected: Vec<&str> = collected.rejected.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(rejected, [segment], "{name}");
        assert_eq!(collected.segments.len(), SEARCHES - 1);
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
