//! Objects that a pull or a push rejects: damaged, forged, or from elsewhere.

use super::*;
use crate::object;
use crate::store::{Listing, StoreError};

#[test]
fn an_object_that_somebody_replaced_does_not_stop_a_push() {
    let (a, b, store) = (Machine::new(1), Machine::new(2), Memory::default());
    a.run(1, 0, 5);
    a.push(&store);
    let segment = names(&store, ".seg").remove(0);
    // `Memory` accepts other bytes under a name. A real store rejects them, as `Strict` does.
    let strict = Strict(&store);
    store.put(&segment, b"other").unwrap();
    let pushed = a.push(&strict);
    assert_eq!((pushed.replaced.as_ref(), pushed.last), (Some(&segment), 7));
    let pulled = b.pull(&store, &allowing(&[&a]));
    let rejected: Vec<&String> = pulled.rejected.iter().map(|r| &r.name).collect();
    assert_eq!((rejected, pulled.segments), (vec![&segment], 1));
    assert_eq!(b.imported()[0].trials.len(), 5);
}

/// A store that never replaces an object.
#[derive(Debug)]
struct Strict<'a>(&'a Memory);

impl ObjectStore for Strict<'_> {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        match self.0.get(name, usize::MAX)? {
            Some(found) if found != bytes => Err(StoreError::Exists {
                name: name.into(),
                found: found.len() as u64,
                expected: bytes.len() as u64,
            }),
            _ => self.0.put(name, bytes),
        }
    }

    fn get(&self, name: &str, max_bytes: usize) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.get(name, max_bytes)
    }

    fn list(&self, prefix: &str) -> Result<Listing, StoreError> {
        self.0.list(prefix)
    }
}

#[test]
fn what_is_damaged_forged_or_foreign_is_named_and_the_rest_is_pulled() {
    let (a, stranger) = (Machine::new(1), Machine::new(3));
    let mut random = Random(7);
    for case in 0..cases(30, 1000) {
        let (b, store) = (Machine::new(2), Memory::default());
        let runs = Machine {
            folder: tempfile::tempdir().unwrap(),
            key: a.key.clone(),
            number: 1,
        };
        runs.run(1, 0, 3);
        runs.push(&store);
        let other = Machine {
            folder: tempfile::tempdir().unwrap(),
            key: a.key.clone(),
            number: 1,
        };
        other.run(1, 3, 6);
        other.push(&store);
        let name = names(&store, ".seg").remove(random.below(2) as usize);
        let bytes = store.get(&name, 1 << 24).unwrap().unwrap();
        let signature = object::signature(&name);
        let bad = match case % 5 {
            0 => {
                let mut damaged = bytes.clone();
                let bit = random.below(damaged.len() as u64 * 8) as usize;
                damaged[bit / 8] ^= 1 << (bit % 8);
                store.put(&name, &damaged).unwrap();
                name
            }
            1 => {
                let forged = stranger.key.sign(&bytes).unwrap();
                store.put(&signature, forged.as_bytes()).unwrap();
                name
            }
            2 => {
                let elsewhere = name.replace("/none/", &format!("/none/{}/", "0".repeat(16)));
                store.0.lock().unwrap().remove(&name).unwrap();
                let signed = store.0.lock().unwrap().remove(&signature).unwrap();
                store.put(&elsewhere, &bytes).unwrap();
                store.put(&object::signature(&elsewhere), &signed).unwrap();
                elsewhere
            }
            3 => {
                store.0.lock().unwrap().remove(&name).unwrap();
                signature
            }
            _ => {
                let cut = random.below(bytes.len() as u64) as usize;
                store.put(&name, &bytes[..cut]).unwrap();
                name
            }
        };
        let pulled = b.pull(&store, &allowing(&[&a]));
        let rejected: Vec<&String> = pulled.rejected.iter().map(|r| &r.name).collect();
        assert_eq!((rejected, pulled.segments), (vec![&bad], 1), "case {case}");
        assert_eq!(b.imported()[0].trials.len(), 3);
    }
}

#[test]
fn a_segment_of_a_plan_is_not_pulled_and_one_without_a_plan_is_not_merged() {
    let (a, b, store) = (Machine::new(1), Machine::new(2), Memory::default());
    let plan = plan(1, 1, &[&a.key]);
    let records = session(&key(0, &problem(0)), "A=1", Ok(1_100_000));
    let of_plan = publish(&store, &a.key, &plan, (0, 0), &records);
    let copied = of_plan.replace(&plan.id(), object::NO_PLAN);
    for (from, to) in [
        (of_plan.clone(), copied.clone()),
        (object::signature(&of_plan), object::signature(&copied)),
    ] {
        let bytes = store.get(&from, 1 << 24).unwrap().unwrap();
        store.put(&to, &bytes).unwrap();
    }
    let pulled = b.pull(&store, &allowing(&[&a]));
    assert_eq!((pulled.segments, pulled.rejected.len()), (0, 1));
    assert!(pulled.rejected[0].why.to_string().contains("not none"));
}

#[test]
fn a_signature_by_nobody_who_may_costs_no_fetch() {
    /// A store that panics when a segment is fetched.
    #[derive(Debug)]
    struct SignaturesOnly(Memory);

    impl ObjectStore for SignaturesOnly {
        fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
            self.0.put(name, bytes)
        }

        fn get(&self, name: &str, max_bytes: usize) -> Result<Option<Vec<u8>>, StoreError> {
            assert!(name.ends_with(".sig"), "{name} was fetched");
            self.0.get(name, max_bytes)
        }

        fn list(&self, prefix: &str) -> Result<Listing, StoreError> {
            self.0.list(prefix)
        }
    }
    let (a, b, store) = (Machine::new(1), Machine::new(2), Memory::default());
    a.run(1, 0, 3);
    a.push(&store);
    let pulled = b.pull(&SignaturesOnly(store), &allowing(&[&b]));
    let why = pulled.rejected[0].why.to_string();
    assert!(why.contains(&a.key.public().fingerprint()), "{why}");
}

#[test]
fn damage_of_what_was_pulled_is_named_and_the_rest_counts() {
    let (a, b, store) = (Machine::new(1), Machine::new(2), Memory::default());
    for run in 1..=2 {
        a.run(run, run * 10, run * 10 + 5);
        a.push(&store);
    }
    b.pull(&store, &allowing(&[&a]));
    let segment = b.imports().join(names(&store, ".seg").remove(1));
    std::fs::write(&segment, b"damage").unwrap();
    let imports = Imports::read(&b.imports()).unwrap();
    assert_eq!(imports.damaged.len(), 1);
    assert_eq!(imports.results()[0].trials.len(), 5);
    let missing = Imports::read(&b.folder.path().join("none")).unwrap();
    assert_eq!(
        (missing.results(), missing.damaged),
        (Vec::new(), Vec::new())
    );
}

#[test]
fn a_forged_segment_with_a_copied_signature_is_not_pulled() {
    let (a, b, stranger) = (Machine::new(1), Machine::new(2), Machine::new(3));
    let (store, elsewhere) = (Memory::default(), Memory::default());
    a.run(1, 0, 3);
    a.push(&store);
    stranger.run(1, 50, 60);
    stranger.push(&elsewhere);
    let forged = names(&elsewhere, ".seg").remove(0);
    let bytes = elsewhere.get(&forged, 1 << 24).unwrap().unwrap();
    let copied = names(&store, ".sig").remove(0);
    let copied = store.get(&copied, 1 << 16).unwrap().unwrap();
    store.put(&forged, &bytes).unwrap();
    store.put(&object::signature(&forged), &copied).unwrap();
    let pulled = b.pull(&store, &allowing(&[&a]));
    let rejected: Vec<&String> = pulled.rejected.iter().map(|r| &r.name).collect();
    assert_eq!((rejected, pulled.segments), (vec![&forged], 1));
    assert_eq!(b.imported()[0].trials.len(), 3);
}
