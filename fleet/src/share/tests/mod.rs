mod killed;
mod refused;

use std::path::PathBuf;

use kiln_cache::journal::Journal;
use kiln_cache::record::{RunSettings, RunStarted, TrialPlace};
use kiln_cache::{Record, Trial};

use super::*;
use crate::samples::{
    Memory, NOW, Random, cases, key, observer, plan, problem, publish, session, trial,
};
use crate::store::{Folder, ObjectStore};
use crate::{AllowedSigners, PrivateKey};

/// A machine with its journal, its key, and the segments that it pulled.
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

    /// Appends a run that tries the configs `from` to `to`.
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
        push(
            store,
            &self.key.clone().into(),
            &self.journal(),
            &host.into(),
            &|_| {},
        )
        .unwrap()
    }

    fn pull(&self, store: &dyn ObjectStore, signers: &AllowedSigners) -> Pulled {
        let to = Folder::create(&self.imports()).unwrap().0;
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
    // A machine does not fetch its own journal.
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
        // The configs 5 to 21. Some of them were tried in two runs.
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
    let imported = b.imported();
    let tried_by = |n| {
        let mut of = imported.iter().filter(|one| one.observer == observer(n));
        of.next().map(|one| one.trials.len())
    };
    // The three configs from before the copy, and three more on each side.
    assert_eq!((tried_by(1), tried_by(4)), (Some(6), Some(3)));
}
