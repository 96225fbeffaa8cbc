use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use kiln_cache::journal::Journal;
use kiln_cache::record::{RunSettings, RunStarted, TrialPlace};
use kiln_cache::{Record, Trial};

use super::*;
use crate::samples::{
    Memory, NOW, Random, cases, key, observer, plan, problem, publish, session, trial,
};
use crate::store::{Folder, Listing, ObjectStore, StoreError};
use crate::{AllowedSigners, PrivateKey, object};

/// A machine: its journal, its key, and what it pulled.
struct Machine {
    folder: tempfile::TempDir,
    key: PrivateKey,
    number: usize,
}

impl Machine {
    fn new(number: usize) -> Machine {
        Machine {
            folder: tempfile::tempdir().unwrap(),
            key: PrivateKey::generate().unwrap(),
            number,
        }
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    fn imports(&self) -> PathBuf {
        self.folder.path().join("imports")
    }

    fn id(&self) -> u64 {
        Journal::open(&self.journal()).unwrap().0.id()
    }

    fn append(&self, records: &[Record]) {
        let (mut journal, _) = Journal::open(&self.journal()).unwrap();
        journal.append(records).unwrap();
    }

    /// A run that tries configs from one to another.
    fn run(&self, run: u64, from: u64, to: u64) {
        let key = key(0, &problem(0));
        let settings = RunSettings {
            command: "tune".into(),
            device: "fake".into(),
            machine: "m".into(),
            regime: "cold".into(),
            strategy: "auto".into(),
            observer: observer(self.number),
            ..RunSettings::default()
        };
        let started = RunStarted {
            run,
            version: "0.1.0".into(),
            unix_s: NOW,
            seed: 1,
            settings: Some(settings),
        };
        let mut records = vec![Record::RunStarted(started), Record::Key(key.clone())];
        records.extend((from..to).map(|n| {
            Record::End(Trial {
                place: Some(TrialPlace {
                    run,
                    order: n + 1,
                    end_ns: n,
                }),
                ..trial(&key, n)
            })
        }));
        self.append(&records);
    }

    fn push(&self, store: &dyn ObjectStore) -> Pushed {
        let host = [("host".to_owned(), format!("node{}", self.number))];
        push(store, &self.key, &self.journal(), &host.into(), &|_| {}).unwrap()
    }

    fn pull(&self, store: &dyn ObjectStore, signers: &AllowedSigners) -> Pulled {
        let to = Folder::open(&self.imports()).unwrap();
        let own = self.journal().exists().then(|| self.id());
        pull(store, signers, own, &to, NOW, &|_| {}).unwrap()
    }

    fn imported(&self) -> Vec<Imported> {
        let imports = Imports::read(&self.imports()).unwrap();
        assert_eq!(imports.damaged, Vec::<String>::new());
        imports.results()
    }
}

fn allowing(machines: &[&Machine]) -> AllowedSigners {
    let line = |machine: &&Machine| {
        let public = machine.key.public().to_openssh().unwrap();
        format!("user{}@lab {public}\n", machine.number)
    };
    AllowedSigners::parse(&machines.iter().map(line).collect::<String>()).unwrap()
}

fn names(store: &Memory, ending: &str) -> Vec<String> {
    let objects = store.0.lock().unwrap();
    objects
        .keys()
        .filter(|name| name.ends_with(ending))
        .cloned()
        .collect()
}

#[test]
fn what_one_machine_pushes_another_pulls_with_who_measured_it() {
    let (a, b, store) = (Machine::new(1), Machine::new(2), Memory::default());
    a.run(1, 0, 8);
    let pushed = a.push(&store);
    assert_eq!(
        (pushed.journal, pushed.last, pushed.segments),
        (a.id(), 10, 1)
    );
    let signers = allowing(&[&a, &b]);
    let pulled = b.pull(&store, &signers);
    assert_eq!(
        (pulled.segments, pulled.records, pulled.rejected.len()),
        (1, 10, 0)
    );
    let imported = b.imported();
    assert_eq!(imported.len(), 1);
    assert_eq!(
        (imported[0].observer.clone(), imported[0].trials.len()),
        (observer(1), 8)
    );
    assert_eq!(imported[0].key, key(0, &problem(0)));
    assert_eq!(imported[0].author, a.key.public().fingerprint());
    // One's own journal is not fetched.
    assert_eq!(a.pull(&store, &signers).segments, 0);
}

#[test]
fn pushing_and_pulling_again_do_nothing_and_more_records_are_added() {
    let (a, b, store) = (Machine::new(1), Machine::new(2), Memory::default());
    let signers = allowing(&[&a]);
    let mut expected = 0;
    for run in 1..=4 {
        a.run(run, run * 10, run * 10 + 5);
        expected += 5;
        let pushed = a.push(&store);
        assert_eq!(
            (pushed.known, pushed.last, pushed.segments),
            ((run - 1) * 7, run * 7, 1)
        );
        let before = store.0.lock().unwrap().clone();
        assert_eq!(a.push(&store).segments, 0);
        assert_eq!(*store.0.lock().unwrap(), before);
        assert_eq!(b.pull(&store, &signers).segments, 1);
        let again = b.pull(&store, &signers);
        assert_eq!((again.segments, again.known), (0, run as usize));
        assert_eq!(b.imported()[0].trials.len(), expected);
    }
}

/// A store that stops after a number of writes, as a killed process does.
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
        let stopped = push(&stopping, &a.key, &a.journal(), &observer(1), &|_| {});
        assert_eq!(stopped.is_ok(), writes >= 2);
        let signers = allowing(&[&a]);
        let pulled = b.pull(&store, &signers);
        let unfinished = usize::from(writes == 1);
        assert_eq!(
            (pulled.unfinished.len(), pulled.rejected.len()),
            (unfinished, 0)
        );
        let pushed = push(&store, &a.key, &a.journal(), &observer(1), &|_| {}).unwrap();
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
fn an_object_that_somebody_replaced_does_not_stop_a_push() {
    let (a, b, store) = (Machine::new(1), Machine::new(2), Memory::default());
    a.run(1, 0, 5);
    a.push(&store);
    let segment = names(&store, ".seg").remove(0);
    // The memory takes anything: a real store refuses other bytes.
    let strict = Strict(&store);
    store.put(&segment, b"other").unwrap();
    let pushed = a.push(&strict);
    assert_eq!((pushed.replaced.as_ref(), pushed.last), (Some(&segment), 7));
    let pulled = b.pull(&store, &allowing(&[&a]));
    let rejected: Vec<&String> = pulled.rejected.iter().map(|r| &r.name).collect();
    assert_eq!((rejected, pulled.segments), (vec![&segment], 1));
    assert_eq!(b.imported()[0].trials.len(), 5);
}

/// A store that replaces nothing.
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
    /// A store that refuses to give segments.
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
fn a_pull_is_a_union_whatever_was_pushed_in_whatever_order() {
    let machines: Vec<Machine> = (1..=3).map(Machine::new).collect();
    let all: Vec<&Machine> = machines.iter().collect();
    let signers = allowing(&all);
    let store = Memory::default();
    for run in 1..=3 {
        for machine in &machines {
            machine.run(run, run * 5, run * 5 + 7);
            machine.push(&store);
        }
    }
    let objects: Vec<(String, Vec<u8>)> = store.0.lock().unwrap().clone().into_iter().collect();
    let mut random = Random(3);
    let mut expected: Option<Vec<Imported>> = None;
    for _ in 0..cases(5, 100) {
        let (partial, reader) = (Memory::default(), Machine::new(9));
        let mut order: Vec<_> = objects.iter().chain(&objects).collect();
        random.shuffle(&mut order);
        for (n, (name, bytes)) in order.into_iter().enumerate() {
            partial.put(name, bytes).unwrap();
            if n % 11 == 0 {
                reader.pull(&partial, &signers);
            }
        }
        reader.pull(&partial, &signers);
        let imported = reader.imported();
        assert_eq!(imported.len(), 3);
        // Configs 5 to 21, some of them in two runs.
        assert!(imported.iter().all(|one| one.trials.len() == 17));
        assert_eq!(expected.get_or_insert(imported.clone()), &imported);
    }
}

#[test]
fn a_copied_cache_that_went_on_differently_is_pushed_in_full() {
    let (a, b, store) = (Machine::new(1), Machine::new(2), Memory::default());
    a.run(1, 0, 3);
    let copy = Machine {
        folder: tempfile::tempdir().unwrap(),
        key: a.key.clone(),
        number: 4,
    };
    std::fs::copy(a.journal(), copy.journal()).unwrap();
    a.run(2, 10, 13);
    a.push(&store);
    copy.run(2, 20, 23);
    let pushed = copy.push(&store);
    assert_eq!((pushed.known, pushed.segments), (0, 1));
    b.pull(&store, &allowing(&[&a]));
    let configs: usize = b.imported().iter().map(|one| one.trials.len()).sum();
    // The three from before the copy, and three of each.
    assert_eq!(configs, 9);
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
