use std::fs;
use std::time::Duration;

use super::*;
use crate::record::{RECORD_SCHEMA, Trial, TrialId};
use crate::samples::{device, done, key, open, outcome, process, reopen, trial, winner};
use crate::store::{Change, Position, Totals};
use crate::{Outcome, Winner};

fn fresh() -> (tempfile::TempDir, Cache) {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    cache.remember_key(&key(1)).unwrap();
    (folder, cache)
}

fn id(n: u64) -> TrialId {
    trial(&key(1), n).id()
}

fn with_outcome(n: u64, outcome: Outcome) -> Trial {
    Trial {
        outcome,
        ..trial(&key(1), n)
    }
}

#[test]
fn everything_written_is_there_after_reopening() {
    let (folder, cache) = fresh();
    let key = key(1);
    let run = cache.start_run("0.1.0", 1_700_000_000, 42).unwrap();
    cache
        .finish_all((0..32).map(|n| trial(&key, n)).collect())
        .unwrap();
    cache.confirm_process(process(&key, "A=1", 3, 0)).unwrap();
    cache.confirm_process(process(&key, "A=1", 3, 1)).unwrap();
    cache.confirm_process(process(&key, "A=1", 4, 0)).unwrap();
    cache.seal(winner(&key, 2)).unwrap();
    cache.mark_search_done(done(&key, 32)).unwrap();
    cache.end_run(run, 1_700_000_060).unwrap();
    cache.close().unwrap();

    let cache = open(folder.path());
    for n in 0..32 {
        assert_eq!(cache.trial(&id(n)).unwrap(), Some(trial(&key, n)));
    }
    assert_eq!(cache.trial(&id(32)).unwrap(), None);
    assert_eq!(cache.trials(key.hash()).unwrap().len(), 32);
    assert_eq!(cache.all_trials(Some("gemm")).unwrap().len(), 32);
    assert_eq!(cache.all_trials(Some("other")).unwrap(), []);
    let trial = TrialId {
        key: key.hash(),
        config: "A=1".into(),
    };
    let series: Vec<_> = (0..2).map(|n| process(&key, "A=1", 3, n)).collect();
    assert_eq!(cache.confirm_processes(&trial, 3).unwrap(), series);
    assert_eq!(cache.confirmations(key.hash()).unwrap().len(), 3);
    assert_eq!(cache.key(key.hash()).unwrap(), Some(key.clone()));
    assert_eq!(cache.winner(key.hash()).unwrap(), Some(winner(&key, 2)));
    assert_eq!(cache.all_winners(None).unwrap(), [winner(&key, 2)]);
    assert_eq!(cache.search_done(key.hash()).unwrap(), Some(done(&key, 32)));
    assert_eq!(cache.keys(Some("gemm")).unwrap(), [key]);
    let runs = cache.runs().unwrap();
    assert_eq!((runs.len(), runs[0].started.seed), (1, 42));
    assert_eq!(runs[0].ended.as_ref().unwrap().unix_s, 1_700_000_060);
    assert!(cache.verify().unwrap().is_sound());
}

#[test]
fn a_start_that_is_not_survived_is_a_strike_and_the_third_launch_is_refused() {
    let (folder, cache) = fresh();
    assert_eq!(cache.begin(&id(1)).unwrap(), Begin::Go { attempt: 1 });
    drop(cache);
    let (cache, _) = reopen(folder.path());
    assert_eq!(cache.strikes(&id(1)).unwrap(), 1);
    assert_eq!(cache.begin(&id(1)).unwrap(), Begin::Go { attempt: 2 });
    drop(cache);
    let (cache, _) = reopen(folder.path());
    assert_eq!(
        cache.begin(&id(1)).unwrap(),
        Begin::Quarantined { strikes: 2 }
    );
    let listed = cache.quarantined(key(1).hash()).unwrap();
    assert_eq!((listed.len(), &listed[0].trial), (1, &id(1)));
    // Another config is not affected, nor is the same config under another key.
    assert_eq!(cache.begin(&id(2)).unwrap(), Begin::Go { attempt: 1 });
    cache.remember_key(&key(2)).unwrap();
    let elsewhere = trial(&key(2), 1).id();
    assert_eq!(cache.begin(&elsewhere).unwrap(), Begin::Go { attempt: 1 });
}

#[test]
fn a_trial_that_ends_well_clears_its_strikes_and_a_lost_worker_does_not() {
    let (_folder, cache) = fresh();
    cache.begin(&id(1)).unwrap();
    cache.finish(with_outcome(1, outcome(14))).unwrap();
    assert_eq!(cache.strikes(&id(1)).unwrap(), 0);
    for lost in [outcome(11), outcome(10)] {
        cache.begin(&id(1)).unwrap();
        cache.finish(with_outcome(1, lost)).unwrap();
    }
    assert_eq!(
        cache.begin(&id(1)).unwrap(),
        Begin::Quarantined { strikes: 2 }
    );
    let quarantined = Outcome::Quarantined { strikes: 2 };
    cache.finish(with_outcome(1, quarantined)).unwrap();
    assert_eq!(
        cache.begin(&id(1)).unwrap(),
        Begin::Quarantined { strikes: 2 }
    );
}

#[test]
fn a_cancelled_start_is_no_strike() {
    let (_folder, cache) = fresh();
    for _ in 0..5 {
        assert_eq!(cache.begin(&id(1)).unwrap(), Begin::Go { attempt: 1 });
        cache.cancel(&id(1)).unwrap();
    }
    assert_eq!(cache.strikes(&id(1)).unwrap(), 0);
}

#[test]
fn a_trial_under_a_key_never_seen_in_clear_is_refused() {
    let (_folder, cache) = fresh();
    let strange = trial(&key(9), 1);
    let error = cache.begin(&strange.id()).unwrap_err();
    assert!(matches!(error, CacheError::UnknownKey { .. }), "{error}");
    assert!(cache.finish(strange).is_err());
}

#[test]
fn a_proven_winner_without_a_confirmation_cannot_be_sealed() {
    let (_folder, cache) = fresh();
    let unproven = Winner {
        confirm: None,
        ..winner(&key(1), 2)
    };
    assert!(cache.seal(unproven).is_err());
    assert_eq!(cache.winner(key(1).hash()).unwrap(), None);
}

#[test]
fn a_miss_is_explained_by_the_field_that_differs() {
    let (_folder, cache) = fresh();
    let explanation = cache.explain(&key(2)).unwrap().unwrap();
    let fields: Vec<_> = explanation.differences.iter().map(|d| &d.field).collect();
    assert_eq!(fields, ["problem"]);
}

#[test]
fn a_compacted_journal_holds_the_same_and_less() {
    let (folder, cache) = fresh();
    for round in 0..20 {
        cache.begin(&id(1)).unwrap();
        cache
            .finish(with_outcome(1, outcome(14 + 16 * round)))
            .unwrap();
    }
    cache.begin(&id(2)).unwrap();
    let before = cache.stats().unwrap();
    cache.compact().unwrap();
    assert!(cache.stats().unwrap().journal_bytes < before.journal_bytes / 4);
    assert!(cache.verify().unwrap().is_sound());
    cache.finish(trial(&key(1), 3)).unwrap();
    cache.close().unwrap();
    let cache = open(folder.path());
    let last = with_outcome(1, outcome(14 + 16 * 19));
    assert_eq!(cache.trial(&id(1)).unwrap(), Some(last));
    assert_eq!(cache.strikes(&id(2)).unwrap(), 1);
    assert_eq!(cache.trial(&id(3)).unwrap(), Some(trial(&key(1), 3)));
}

#[test]
fn a_deleted_database_is_built_again_from_the_journal() {
    let (folder, cache) = fresh();
    cache.finish(trial(&key(1), 1)).unwrap();
    cache.close().unwrap();
    fs::remove_dir_all(folder.path().join(folder::STORE)).unwrap();
    let cache = open(folder.path());
    assert_eq!(cache.trial(&id(1)).unwrap(), Some(trial(&key(1), 1)));
    assert!(cache.verify().unwrap().is_sound());
}

#[test]
fn a_deleted_journal_is_written_again_from_the_database() {
    let (folder, cache) = fresh();
    cache.finish(trial(&key(1), 1)).unwrap();
    cache.close().unwrap();
    fs::remove_file(folder.path().join(folder::JOURNAL)).unwrap();
    let (cache, warnings) = reopen(folder.path());
    assert_eq!(
        warnings,
        [Warning::JournalCutShort {
            found: 0,
            expected: 2
        }]
    );
    assert!(cache.verify().unwrap().is_sound());
    drop(cache);
    fs::remove_dir_all(folder.path().join(folder::STORE)).unwrap();
    let cache = open(folder.path());
    assert_eq!(cache.trial(&id(1)).unwrap(), Some(trial(&key(1), 1)));
}

#[test]
fn a_database_of_another_journal_gives_way_to_this_one() {
    let (folder, cache) = fresh();
    // The database has applied more records than the other journal has, so no record of that journal contradicts the
    // database.
    cache.finish(trial(&key(1), 1)).unwrap();
    cache.finish(trial(&key(1), 3)).unwrap();
    cache.close().unwrap();
    let (other, cache) = fresh();
    cache.finish(trial(&key(1), 2)).unwrap();
    cache.close().unwrap();
    fs::copy(
        other.path().join(folder::JOURNAL),
        folder.path().join(folder::JOURNAL),
    )
    .unwrap();
    let (cache, warnings) = reopen(folder.path());
    assert_eq!(warnings, [Warning::StoreReplaced { entries: 2 }]);
    assert_eq!(cache.trial(&id(1)).unwrap(), None);
    assert_eq!(cache.trial(&id(2)).unwrap(), Some(trial(&key(1), 2)));
}

#[test]
fn a_journal_that_went_another_way_is_not_mixed_with_the_database() {
    let (folder, cache) = fresh();
    cache.finish(trial(&key(1), 1)).unwrap();
    cache.finish(trial(&key(1), 2)).unwrap();
    cache.close().unwrap();
    // The journal is cut after two records, and another process then appends to it.
    let path = folder.path().join(folder::JOURNAL);
    let text = fs::read_to_string(&path).unwrap();
    let cut: String = text.split_inclusive('\n').take(2).collect();
    fs::write(&path, cut).unwrap();
    let (mut journal, _) = Journal::open(&path).unwrap();
    journal.append(&[Record::End(trial(&key(1), 3))]).unwrap();
    let (cache, warnings) = reopen(folder.path());
    assert_eq!(warnings, [Warning::StoreReplaced { entries: 3 }]);
    let found: Vec<_> = [1, 2, 3]
        .map(|n| cache.trial(&id(n)).unwrap().is_some())
        .into();
    assert_eq!(found, [true, false, true]);
    assert!(cache.verify().unwrap().is_sound());
}

#[test]
fn a_database_of_a_newer_version_is_set_aside_untouched_and_built_again() {
    let (folder, cache) = fresh();
    cache.finish(trial(&key(1), 1)).unwrap();
    cache.close().unwrap();
    crate::store::sled_store::tests::write_newer(&folder.path().join(folder::STORE));
    let (cache, warnings) = reopen(folder.path());
    let moved_to = folder.path().join("store.sled.newer-1");
    let known = crate::store::STORE_SCHEMA;
    assert_eq!(
        warnings,
        [Warning::StoreNewer {
            moved_to: moved_to.clone(),
            found: (known + 1).to_string(),
            known,
            entries: 2
        }]
    );
    assert!(moved_to.is_dir());
    assert_eq!(cache.trial(&id(1)).unwrap(), Some(trial(&key(1), 1)));
}

#[test]
fn a_journal_of_a_newer_version_is_refused_and_nothing_is_touched() {
    let (folder, cache) = fresh();
    cache.close().unwrap();
    let path = folder.path().join(folder::JOURNAL);
    // A record of the next version, which differs from a record of this version only in the version.
    let text = fs::read_to_string(&path).unwrap();
    let body = text[10..].replacen(
        &RECORD_SCHEMA.to_string(),
        &(RECORD_SCHEMA + 1).to_string(),
        1,
    );
    let crc = crc32c::crc32c(body.trim_end().as_bytes());
    let newer = format!("\u{1e}{crc:08x} {body}");
    fs::write(&path, &newer).unwrap();
    let error = Cache::open(folder.path(), OpenOptions::new())
        .err()
        .unwrap();
    assert!(error.to_string().contains("nothing was changed"), "{error}");
    assert!(Cache::view(folder.path()).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    assert!(folder.path().join(folder::STORE).is_dir());
}

#[test]
fn a_view_reads_along_without_the_lock_and_cannot_write() {
    let (folder, cache) = fresh();
    cache.finish(trial(&key(1), 1)).unwrap();
    let view = Cache::view(folder.path()).unwrap();
    assert_eq!(view.trial(&id(1)).unwrap(), Some(trial(&key(1), 1)));
    let error = view.finish(trial(&key(1), 2)).unwrap_err();
    assert!(matches!(error, CacheError::ReadOnly { .. }), "{error}");
    assert!(view.compact().is_err() && view.clear().is_err());
    cache.finish(trial(&key(1), 2)).unwrap();
    let nowhere = Cache::view(&folder.path().join("none")).unwrap();
    assert_eq!(nowhere.stats().unwrap().trials, 0);
}

#[test]
fn a_cleared_cache_is_empty_and_works_on() {
    let (folder, cache) = fresh();
    cache.finish(trial(&key(1), 1)).unwrap();
    let artifacts = cache.folder().join("artifacts");
    fs::create_dir_all(&artifacts).unwrap();
    fs::write(artifacts.join("code"), "code").unwrap();
    fs::create_dir(folder.path().join("store.sled.corrupt-1")).unwrap();
    fs::create_dir(folder.path().join("store.sled.newer-1")).unwrap();
    cache.clear().unwrap();
    let stats = cache.stats().unwrap();
    let newer = folder.path().join("store.sled.newer-1");
    assert_eq!((stats.keys, stats.trials, stats.artifact_bytes), (0, 0, 0));
    assert_eq!((stats.journal_bytes, stats.set_aside), (0, vec![newer]));
    cache.remember_key(&key(1)).unwrap();
    cache.finish(trial(&key(1), 2)).unwrap();
    cache.close().unwrap();
    let cache = open(folder.path());
    assert_eq!(cache.trials(key(1).hash()).unwrap(), [trial(&key(1), 2)]);
}

#[test]
fn an_export_is_one_json_document_with_every_entry() {
    let (_folder, cache) = fresh();
    cache
        .finish_all((0..16).map(|n| trial(&key(1), n)).collect())
        .unwrap();
    cache.seal(winner(&key(1), 2)).unwrap();
    let mut out = Vec::new();
    cache.export_json(&mut out).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(document["kiln_cache"], RECORD_SCHEMA);
    let entries = document["entries"].as_array().unwrap();
    let count = |kind: &str| entries.iter().filter(|e| e.get(kind).is_some()).count();
    assert_eq!((count("key"), count("trial"), count("winner")), (1, 16, 1));
    let device = device().to_string();
    assert!(
        entries
            .iter()
            .all(|e| e["trial"].is_null() || e["trial"]["device"] == device)
    );
}

#[test]
fn a_second_opening_is_refused_with_the_holder_and_waits_when_told() {
    let (folder, cache) = fresh();
    let at_once = OpenOptions::new().wait(Some(Duration::ZERO), |_| {});
    let error = Cache::open(folder.path(), at_once).err().unwrap();
    let me = std::process::id();
    assert!(
        error
            .to_string()
            .contains(&format!("in use by another `tune` (process {me})")),
        "{error}"
    );
    let mut waits = 0;
    let mut held = Some(cache);
    let options = OpenOptions::new().wait(None, |waiting| {
        assert_eq!(waiting.process, Some(me));
        waits += 1;
        if waits == 2 {
            held.take();
        }
    });
    let (_cache, warnings) = Cache::open(folder.path(), options).unwrap();
    assert_eq!((waits, warnings), (2, vec![]));
}

#[test]
fn threads_share_a_cache_without_losing_a_record() {
    let (folder, cache) = fresh();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let cache = &cache;
            scope.spawn(move || {
                for n in thread * 25..(thread + 1) * 25 {
                    cache.finish(trial(&key(1), n)).unwrap();
                    assert_eq!(cache.trial(&id(n)).unwrap(), Some(trial(&key(1), n)));
                }
            });
        }
    });
    cache.close().unwrap();
    let cache = open(folder.path());
    assert_eq!(cache.trials(key(1).hash()).unwrap().len(), 200);
    assert!(cache.verify().unwrap().is_sound());
}

/// A store in which every call fails.
struct Failing;

fn failure() -> StoreError {
    StoreError::Failed {
        reason: "no space".into(),
    }
}

impl Store for Failing {
    fn get(&self, _: &str) -> Result<Option<StoreEntry>, StoreError> {
        Err(failure())
    }
    fn scan(&self, _: &str, _: &mut dyn FnMut(StoreEntry)) -> Result<(), StoreError> {
        Err(failure())
    }
    fn apply(&mut self, _: &[Change], _: Position) -> Result<(), StoreError> {
        Err(failure())
    }
    fn totals(&self) -> Totals {
        Totals::default()
    }
    fn check(&self) -> Result<(), StoreError> {
        Err(failure())
    }
    fn clear(&mut self) -> Result<(), StoreError> {
        Err(failure())
    }
    fn flush(&mut self) -> Result<(), StoreError> {
        Err(failure())
    }
}

#[test]
fn a_store_that_fails_during_a_run_is_replaced_and_nothing_is_lost() {
    let (folder, cache) = fresh();
    cache.finish(trial(&key(1), 1)).unwrap();
    let sled = std::mem::replace(&mut cache.lock().store, Box::new(Failing));
    assert_eq!(cache.trial(&id(1)).unwrap(), Some(trial(&key(1), 1)));
    assert!(matches!(
        cache.take_warnings()[..],
        [Warning::StoreUnavailable { .. }]
    ));
    cache.lock().store = Box::new(Failing);
    cache.end_run(1, 2).unwrap();
    cache.finish(trial(&key(1), 2)).unwrap();
    assert_eq!(cache.trials(key(1).hash()).unwrap().len(), 2);
    drop((sled, cache));
    let (cache, warnings) = reopen(folder.path());
    assert_eq!(warnings, [Warning::StoreBehind { records: 2 }]);
    assert_eq!(cache.trials(key(1).hash()).unwrap().len(), 2);
}

#[test]
fn a_folder_that_anybody_may_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o702)).unwrap();
    let error = Cache::open(folder.path(), OpenOptions::new())
        .err()
        .unwrap();
    assert!(error.to_string().contains("has mode 702"), "{error}");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o775)).unwrap();
    open(folder.path());
}
