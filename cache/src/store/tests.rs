use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use kiln_spec::Hash;
use proptest::prelude::*;

use super::*;
use crate::record::{Record, RunEnded, RunStarted, Trial, Winner};
use crate::samples::{done, key, process, settings, task_ended, trial, winner};

static AT: LazyLock<Position> = LazyLock::new(|| Position {
    journal: 7,
    sequence: 1,
    chain: Hash::of("test", b"chain"),
});

/// Runs a test on each kind of store.
fn on_each(test: impl Fn(&mut dyn Store)) {
    test(&mut MemoryStore::new());
    let folder = tempfile::tempdir().unwrap();
    test(&mut SledStore::open(&folder.path().join("db")).unwrap());
}

fn put(n: u64) -> Change {
    Change::put(StoreEntry::Trial(trial(&key(1), n)))
}

fn remove(n: u64) -> Change {
    Change::Remove(keys::trial(&trial(&key(1), n).id()))
}

fn all(store: &dyn Store) -> Vec<StoreEntry> {
    let mut found = Vec::new();
    store.scan("", &mut |entry| found.push(entry)).unwrap();
    found
}

#[test]
fn what_is_put_is_got_under_its_key_and_no_other() {
    on_each(|store| {
        store.apply(&[put(1), put(2)], *AT).unwrap();
        let one = trial(&key(1), 1);
        let got = store.get(&keys::trial(&one.id())).unwrap();
        assert_eq!(got, Some(StoreEntry::Trial(one)));
        assert_eq!(store.get(&keys::winner(key(1).hash())).unwrap(), None);
        assert_eq!(store.totals().entries, 2);
        assert_eq!(store.totals().position, Some(*AT));
        store.check().unwrap();
    });
}

#[test]
fn a_scan_sees_one_kind_alone() {
    on_each(|store| {
        let changes = [
            put(1),
            Change::put(StoreEntry::Winner(winner(&key(1), 2))),
            Change::put(StoreEntry::Done(done(&key(1), 9))),
        ];
        store.apply(&changes, *AT).unwrap();
        let mut kinds = Vec::new();
        store
            .scan("winner/", &mut |entry| kinds.push(entry))
            .unwrap();
        assert_eq!(kinds, [StoreEntry::Winner(winner(&key(1), 2))]);
        assert_eq!(all(store).len(), 3);
    });
}

#[test]
fn the_last_change_of_a_key_counts() {
    on_each(|store| {
        store.apply(&[put(1), remove(1), put(2)], *AT).unwrap();
        store.apply(&[put(2), remove(3)], *AT).unwrap();
        assert_eq!(all(store), [StoreEntry::Trial(trial(&key(1), 2))]);
        assert_eq!(store.totals().entries, 1);
        store.check().unwrap();
        store.clear().unwrap();
        assert_eq!(store.totals(), Totals::default());
        assert!(all(store).is_empty());
    });
}

#[test]
fn the_root_depends_on_the_entries_and_not_on_their_history() {
    on_each(|store| {
        store.apply(&[put(1), put(2), put(3)], *AT).unwrap();
        let mut other = MemoryStore::new();
        other.apply(&[put(3), put(4)], *AT).unwrap();
        other.apply(&[put(2), remove(4)], *AT).unwrap();
        assert_ne!(other.totals().root, store.totals().root);
        other.apply(&[put(1)], *AT).unwrap();
        assert_eq!(other.totals(), store.totals());
    });
}

#[test]
fn a_database_remembers_its_content_and_its_position() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut store = SledStore::open(&path).unwrap();
    store.apply(&[put(1), put(2)], *AT).unwrap();
    let (entries, totals) = (all(&store), store.totals());
    drop(store);
    let store = reopen(&path);
    assert_eq!((all(&store), store.totals()), (entries, totals));
}

/// Opens a store again. Retries, because sled releases its lock only a moment after the store is dropped.
fn reopen(path: &Path) -> SledStore {
    for _ in 0..200 {
        match SledStore::open(path) {
            Err(StoreError::Locked { .. }) => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            opened => return opened.unwrap(),
        }
    }
    panic!("the database stays locked");
}

#[test]
fn a_database_that_is_open_elsewhere_is_locked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let _held = SledStore::open(&path).unwrap();
    let error = SledStore::open(&path).err().unwrap();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
}

#[test]
fn every_flipped_bit_of_a_value_is_noticed() {
    let entry = StoreEntry::Trial(trial(&key(1), 5));
    let key = entry.key();
    let bytes = value::encode(&key, &entry).unwrap();
    assert_eq!(value::decode_entry(&key, &bytes).unwrap(), entry);
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let error = value::decode_entry(&key, &damaged).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert!(value::decode_entry(&key, &bytes[..length]).is_err());
    }
}

#[test]
fn a_value_under_another_key_is_damaged() {
    let entry = StoreEntry::Trial(trial(&key(1), 5));
    let bytes = value::encode(&entry.key(), &entry).unwrap();
    assert!(value::decode_entry(&keys::trial(&trial(&key(1), 6).id()), &bytes).is_err());
    // A value under a wrong key is detected even if its checksum is valid.
    let bytes = value::encode("trial/elsewhere", &entry).unwrap();
    let error = value::decode_entry("trial/elsewhere", &bytes).unwrap_err();
    assert!(error.to_string().contains("belongs under"), "{error}");
}

#[test]
fn a_stored_winner_without_its_evidence_is_refused() {
    let unproven = Winner {
        confirm: None,
        ..winner(&key(1), 2)
    };
    let entry = StoreEntry::Winner(unproven);
    let bytes = value::encode(&entry.key(), &entry).unwrap();
    let error = value::decode_entry(&entry.key(), &bytes).unwrap_err();
    assert!(error.to_string().contains("no confirmation"), "{error}");
}

/// A record of any kind, created from numbers.
fn record(kind: u8, n: u64) -> Record {
    let key = key(n % 3);
    let trial = trial(&key, n % 5);
    let run = n % 3;
    match kind % 9 {
        0 => Record::Key(key),
        1 | 2 => Record::Start {
            trial: trial.id(),
            attempt: 1,
        },
        3 => Record::Cancelled { trial: trial.id() },
        4 => Record::End(Trial {
            outcome: crate::samples::outcome(n),
            ..trial
        }),
        5 => Record::ConfirmProcess(process(&key, "A=1", n % 2, (n % 7) as u32)),
        6 => Record::Sealed(winner(&key, n)),
        7 => Record::SearchDone(done(&key, n)),
        _ if n.is_multiple_of(2) => Record::RunStarted(RunStarted {
            run,
            version: "1".into(),
            unix_s: n,
            seed: n,
            settings: n.is_multiple_of(4).then(settings),
        }),
        _ => Record::RunEnded(RunEnded {
            run,
            unix_s: n,
            elapsed_ns: Some(n),
            tasks: vec![task_ended(&key, n)],
        }),
    }
}

proptest! {
    #[test]
    fn the_records_made_from_a_store_make_the_same_store(
        steps in prop::collection::vec((any::<u8>(), 0..1_000_000_u64), 0..60),
    ) {
        let mut store = MemoryStore::new();
        for (kind, n) in steps {
            state::apply(&mut store, &record(kind, n), *AT).unwrap();
        }
        let mut rebuilt = MemoryStore::new();
        for record in state::records(&store).unwrap() {
            record.check().unwrap();
            state::apply(&mut rebuilt, &record, *AT).unwrap();
        }
        prop_assert_eq!(all(&rebuilt), all(&store));
        prop_assert_eq!(rebuilt.totals().root, store.totals().root);
    }

    #[test]
    fn records_survive_json(kind: u8, n in 0..1_000_000_u64) {
        let record = record(kind, n);
        let text = serde_json::to_string(&record).unwrap();
        prop_assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn both_stores_hold_the_same_after_any_changes(
        steps in prop::collection::vec((any::<bool>(), 0_u64..12, 1_usize..4), 0..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut sled = SledStore::open(&folder.path().join("db")).unwrap();
        let mut memory = MemoryStore::new();
        let mut model = BTreeMap::new();
        for (puts, n, count) in steps {
            let numbers = n..n + count as u64;
            let changes: Vec<_> = numbers.clone().map(|n| if puts { put(n) } else { remove(n) }).collect();
            sled.apply(&changes, *AT).unwrap();
            memory.apply(&changes, *AT).unwrap();
            for n in numbers {
                let trial = trial(&key(1), n);
                if puts { model.insert(keys::trial(&trial.id()), trial); }
                else { model.remove(&keys::trial(&trial.id())); }
            }
        }
        let expected: Vec<_> = model.into_values().map(StoreEntry::Trial).collect();
        prop_assert_eq!(all(&sled), expected.clone());
        prop_assert_eq!(all(&memory), expected);
        prop_assert_eq!(sled.totals(), memory.totals());
        sled.check().unwrap();
    }
}
