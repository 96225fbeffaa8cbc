//! Pushes and pulls that are interrupted.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::object;
use crate::store::{Listing, StoreError};

/// A store whose writes fail after a number of writes, as if the process had been killed.
#[derive(Debug)]
struct Stopping<'a> {
    store: &'a Memory,
    left: AtomicUsize,
}

impl ObjectStore for Stopping<'_> {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return Err(StoreError::Lost { name: name.into() });
        }
        self.left.store(left - 1, Ordering::Relaxed);
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
fn a_push_that_is_killed_anywhere_is_completed_by_the_next() {
    for writes in 0..4 {
        let (a, b, store) = (Machine::new(1), Machine::new(2), Memory::default());
        a.run(1, 0, 5);
        let left = AtomicUsize::new(writes);
        let stopping = Stopping {
            store: &store,
            left,
        };
        let stopped = push(
            &stopping,
            &a.key.clone().into(),
            &a.journal(),
            &observer(1),
            &|_| {},
        );
        assert_eq!(stopped.is_ok(), writes >= 2);
        let signers = allowing(&[&a]);
        let pulled = b.pull(&store, &signers);
        let unfinished = usize::from(writes == 1);
        assert_eq!(
            (pulled.unfinished.len(), pulled.rejected.len()),
            (unfinished, 0)
        );
        let pushed = push(
            &store,
            &a.key.clone().into(),
            &a.journal(),
            &observer(1),
            &|_| {},
        )
        .unwrap();
        assert_eq!(pushed.last, 7);
        assert_eq!(
            (names(&store, ".seg").len(), names(&store, ".sig").len()),
            (1, 1)
        );
        b.pull(&store, &signers);
        assert_eq!(b.imported()[0].trials.len(), 5);
    }
}

#[test]
fn a_pull_that_was_killed_between_a_segment_and_its_signature_is_completed_by_the_next() {
    let (a, b, store) = (Machine::new(1), Machine::new(2), Memory::default());
    a.run(1, 0, 5);
    a.push(&store);
    let signers = allowing(&[&a]);
    b.pull(&store, &signers);
    std::fs::remove_file(b.imports().join(&names(&store, ".sig")[0])).unwrap();
    let half = Imports::read(&b.imports()).unwrap();
    assert_eq!((half.results(), half.damaged.len()), (Vec::new(), 1));
    assert_eq!(b.pull(&store, &signers).segments, 1);
    assert_eq!(b.imported()[0].trials.len(), 5);
}

#[test]
fn a_store_that_stops_answering_ends_a_pull_and_what_was_fetched_is_kept() {
    let (a, b, store) = (Machine::new(1), Machine::new(2), Memory::default());
    for run in 1..=2 {
        a.run(run, run * 10, run * 10 + 5);
        a.push(&store);
    }
    let silent = Silent {
        of: names(&store, ".seg").remove(1),
        store: &store,
    };
    let stopped = b.pull(&silent, &allowing(&[&a])).stopped.unwrap();
    assert!(stopped.is_passing(), "{stopped}");
    assert_eq!(b.imported()[0].trials.len(), 5);
}

#[test]
fn a_folder_that_takes_nothing_ends_a_pull_and_what_was_rejected_is_still_named() {
    let (a, stranger, b) = (Machine::new(1), Machine::new(3), Machine::new(2));
    let store = Memory::default();
    stranger.run(1, 0, 5);
    stranger.push(&store);
    let foreign = names(&store, ".seg").remove(0);
    a.run(1, 0, 5);
    a.push(&store);
    // A file exists at the path where the folder for the segments of a journal must be created.
    let folder = b.imports().join(object::segments(object::NO_PLAN));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{:016x}", a.id())), "").unwrap();
    let pulled = b.pull(&store, &allowing(&[&a]));
    assert!(pulled.stopped.is_some());
    let rejected: Vec<&String> = pulled.rejected.iter().map(|r| &r.name).collect();
    assert_eq!((rejected, pulled.segments), (vec![&foreign], 0));
}

/// A store that does not answer for one object.
#[derive(Debug)]
struct Silent<'a> {
    of: String,
    store: &'a Memory,
}

impl ObjectStore for Silent<'_> {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.store.put(name, bytes)
    }

    fn get(&self, name: &str, max_bytes: usize) -> Result<Option<Vec<u8>>, StoreError> {
        match name == self.of {
            true => Err(StoreError::Request {
                what: "read",
                name: name.into(),
                why: "nobody answers".into(),
            }),
            false => self.store.get(name, max_bytes),
        }
    }

    fn list(&self, prefix: &str) -> Result<Listing, StoreError> {
        self.store.list(prefix)
    }
}
