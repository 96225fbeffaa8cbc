use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use kiln_cache::journal::{Journal, encode_after};

use super::*;
use crate::PrivateKey;
use crate::collect::Collected;
use crate::plan::Plan;
use crate::samples::{
    Memory, Random, cases, collected, key, observer, plan, problem, session, trial,
};
use crate::store::Listing;

struct World {
    folder: tempfile::TempDir,
    store: Memory,
    worker: PrivateKey,
    plan: Plan,
}

fn world() -> World {
    let worker = PrivateKey::generate().unwrap();
    World {
        folder: tempfile::tempdir().unwrap(),
        store: Memory::default(),
        plan: plan(1, 1, &[&worker]),
        worker,
    }
}

impl World {
    fn journal(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    fn publisher<'s>(&self, store: &'s dyn ObjectStore, attempt: u64) -> Publisher<'s> {
        let attempt = format!("{attempt:032x}");
        Publisher::new(
            store,
            self.worker.clone(),
            &self.plan.id(),
            0,
            &attempt,
            observer(1),
        )
    }

    /// The sequence numbers of the records that a merge accepts, and what the merge collected.
    fn merged(&self) -> (Vec<u64>, Collected) {
        let collected = collected(&self.store, &self.plan);
        let observations = crate::fold(&collected.segments);
        let mut sequences: Vec<u64> = observations
            .sources()
            .flat_map(|o| {
                o.records()
                    .map(|(sequence, _)| sequence)
                    .collect::<Vec<_>>()
            })
            .collect();
        sequences.sort_unstable();
        (sequences, collected)
    }
}

fn trials(from: u64, count: u64) -> Vec<Record> {
    let key = key(0, &problem(0));
    (from..from + count)
        .map(|n| Record::End(trial(&key, n)))
        .collect()
}

#[test]
fn what_is_acknowledged_is_in_the_store_and_nothing_is_published_twice() {
    let world = world();
    let mut publisher = world.publisher(&world.store, 1);
    let none = publisher.publish(&world.journal()).unwrap();
    assert_eq!(none, Published::default());
    let (mut journal, _) = Journal::open(&world.journal()).unwrap();
    for n in 1..=5 {
        journal.append(&trials(n * 10, 3)).unwrap();
        let published = publisher.publish(&world.journal()).unwrap();
        let expected = Published {
            journal: journal.id(),
            last: 3 * n,
            segments: 1,
        };
        assert_eq!(published, expected);
        assert_eq!(publisher.publish(&world.journal()).unwrap().segments, 0);
        assert_eq!(world.merged().0, (1..=3 * n).collect::<Vec<u64>>());
    }
    let (_, collected) = world.merged();
    assert_eq!((collected.segments.len(), collected.rejected.len()), (5, 0));
    assert_eq!((collected.gaps.len(), collected.forks.len()), (0, 0));
}

#[test]
fn publishing_again_gives_the_same_objects() {
    let world = world();
    let (mut journal, _) = Journal::open(&world.journal()).unwrap();
    journal.append(&trials(0, 20)).unwrap();
    world
        .publisher(&world.store, 1)
        .publish(&world.journal())
        .unwrap();
    let before = world.store.0.lock().unwrap().clone();
    world
        .publisher(&world.store, 1)
        .publish(&world.journal())
        .unwrap();
    assert_eq!(*world.store.0.lock().unwrap(), before);
    // A new publisher publishes all 25 records as one segment, which overlaps the first segment. A merge accepts each
    // record once.
    journal.append(&trials(20, 5)).unwrap();
    world
        .publisher(&world.store, 1)
        .publish(&world.journal())
        .unwrap();
    let (sequences, collected) = world.merged();
    assert_eq!(sequences, (1..=25).collect::<Vec<u64>>());
    assert_eq!((collected.segments.len(), collected.forks.len()), (2, 0));
}

#[test]
fn a_large_journal_is_cut_into_segments_that_fit() {
    let world = world();
    let (frames, last) = encode_after(&trials(0, 30_000), Position::start(5)).unwrap();
    assert!(frames.len() > 2 * MAX_SEGMENT_BYTES);
    fs::write(world.journal(), &frames).unwrap();
    let published = world
        .publisher(&world.store, 1)
        .publish(&world.journal())
        .unwrap();
    assert_eq!((published.last, published.journal), (last.sequence, 5));
    assert!(published.segments >= 3);
    let (sequences, collected) = world.merged();
    assert_eq!(sequences.len(), 30_000);
    assert_eq!((collected.rejected.len(), collected.gaps.len()), (0, 0));
}

#[test]
fn damage_costs_the_damaged_records_alone() {
    let world = world();
    let (frames, _) = encode_after(&trials(0, 40), Position::start(5)).unwrap();
    let mut random = Random(3);
    for attempt in 0..cases(20, 300) as u64 {
        world.store.0.lock().unwrap().clear();
        let mut damaged = frames.clone();
        let at = random.below(damaged.len() as u64) as usize;
        match attempt % 3 {
            0 => damaged[at] ^= 0x10,
            1 => drop(damaged.drain(at..damaged.len().min(at + 100))),
            // The end is cut off, as after a crash.
            _ => damaged.truncate(at),
        }
        fs::write(world.journal(), &damaged).unwrap();
        world
            .publisher(&world.store, attempt)
            .publish(&world.journal())
            .unwrap();
        let (sequences, collected) = world.merged();
        assert_eq!(collected.rejected.len(), 0);
        let sound = frames.split_inclusive(|b| *b == b'\n').zip(1u64..);
        let whole = |frame: &[u8]| damaged.windows(frame.len()).any(|window| window == frame);
        let expected: Vec<u64> = sound.filter(|(f, _)| whole(f)).map(|(_, n)| n).collect();
        assert_eq!(sequences, expected);
    }
}

#[test]
fn an_unfinished_record_is_published_once_it_is_finished() {
    let world = world();
    let (frames, _) = encode_after(&trials(0, 2), Position::start(5)).unwrap();
    let mut publisher = world.publisher(&world.store, 1);
    fs::write(world.journal(), &frames[..frames.len() - 3]).unwrap();
    assert_eq!(publisher.publish(&world.journal()).unwrap().last, 1);
    let mut file = OpenOptions::new()
        .append(true)
        .open(world.journal())
        .unwrap();
    file.write_all(&frames[frames.len() - 3..]).unwrap();
    assert_eq!(publisher.publish(&world.journal()).unwrap().last, 2);
}

#[test]
fn a_rewritten_journal_is_published_from_its_start() {
    let world = world();
    let (mut journal, _) = Journal::open(&world.journal()).unwrap();
    let mut publisher = world.publisher(&world.store, 1);
    journal.append(&trials(0, 5)).unwrap();
    publisher.publish(&world.journal()).unwrap();
    journal.rewrite(&trials(0, 2), None).unwrap();
    let published = publisher.publish(&world.journal()).unwrap();
    assert_eq!((published.journal, published.last), (journal.id(), 2));
    let (_, collected) = world.merged();
    assert_eq!((collected.segments.len(), collected.forks.len()), (2, 0));
}

/// A store that accepts only every third object.
#[derive(Debug, Default)]
struct Failing {
    store: Memory,
    puts: AtomicUsize,
}

impl ObjectStore for Failing {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        if self.puts.fetch_add(1, Ordering::Relaxed) % 3 != 2 {
            let name = name.into();
            return Err(StoreError::Name { name });
        }
        self.store.put(name, bytes)
    }

    fn get(&self, name: &str, max_bytes: usize) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.get(name, max_bytes)
    }

    fn list(&self, prefix: &str) -> Result<Listing, StoreError> {
        self.store.list(prefix)
    }
}

#[test]
fn a_store_that_fails_loses_nothing_that_was_acknowledged() {
    let world = world();
    let failing = Failing::default();
    let mut publisher = world.publisher(&failing, 1);
    let (mut journal, _) = Journal::open(&world.journal()).unwrap();
    let mut acknowledged = 0;
    for n in 0..60 {
        journal
            .append(&session(&key(0, &problem(0)), "A=1", Ok(1_100_000))[..1])
            .unwrap();
        if let Ok(published) = publisher.publish(&world.journal()) {
            acknowledged = published.last;
        }
        let collected = collected(&failing, &world.plan);
        let last = collected
            .segments
            .iter()
            .map(|s| s.header.last)
            .max()
            .unwrap_or(0);
        assert!(last >= acknowledged, "{n}");
    }
}
