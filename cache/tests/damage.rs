//! Tests with flipped bits, truncations and zeroed pages in every file of a cache. No wrong value may be returned,
//! nothing may panic or hang, and only damaged records may be lost. The lost records must be counted.
//!
//! There are about a hundred cases by default, and thousands with `KILN_BARS=1`. The figures are printed.
#![allow(clippy::unwrap_used)]

mod children;
mod samples;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kiln_cache::{Cache, OpenOptions, Trial, VerifyReport, Warning};
use samples::{Random, done, key, process, trial, winner};

const TRIALS: u64 = 60;
const JOURNAL: &str = "journal.kiln";
const STORE: &str = "store.sled";
/// Much longer than an undamaged database needs. A database that does not respond delays the test by this time.
const DEADLINE: Duration = Duration::from_secs(20);

/// Which files are damaged, and from which they can be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    /// The database of a run that was killed.
    FreshStore,
    /// The database of a cache that was closed normally and opened again.
    ClosedStore,
    /// The journal. The database is intact.
    Journal,
    /// The journal. The database is removed.
    JournalAlone,
    /// The journal and the database.
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Damage {
    FlippedBit,
    Truncation,
    ZeroedPage,
}

/// The figures of one kind of case.
#[derive(Default)]
struct Figures {
    cases: u64,
    noticed: u64,
    set_aside: u64,
    lost: u64,
    hit: u64,
    wrong: u64,
    panics: u64,
    slowest_ms: u128,
}

/// A cache with sixty trials and one record of each other kind, as a run leaves it.
fn prepare(folder: &Path, closed: bool, copy: &Path) {
    let cache = samples::open(folder);
    let key = key(1);
    let run = cache.start_run("0.1.0", 1, 2).unwrap();
    cache.remember_key(&key).unwrap();
    for n in 0..TRIALS {
        cache.begin(&trial(&key, n).id()).unwrap();
        cache.finish(trial(&key, n)).unwrap();
    }
    cache.confirm_process(process(&key, "A=1", 1, 0)).unwrap();
    cache.seal(winner(&key, 2)).unwrap();
    cache.mark_search_done(done(&key, TRIALS)).unwrap();
    cache.end_run(run, 3).unwrap();
    if closed {
        cache.close().unwrap();
        drop(samples::open(folder));
        copy_tree(folder, copy);
    } else {
        // The copy has what sled has written by this time. Its journal is complete.
        std::thread::sleep(Duration::from_millis(1200));
        copy_tree(folder, copy);
    }
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn files_under(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_under(&path, found);
        } else if path.metadata().unwrap().len() > 0 {
            found.push(path);
        }
    }
    found.sort();
}

/// Damages a file. Most of a database file is zeros that are never read, so nine in ten flips are at bytes that are not
/// zero.
fn damage(file: &Path, kind: Damage, random: &mut Random) {
    let mut bytes = fs::read(file).unwrap();
    let content: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
    let at = match random.below(10) {
        0 => random.below(bytes.len() as u64) as usize,
        _ => content[random.below(content.len() as u64) as usize],
    };
    match kind {
        Damage::FlippedBit => bytes[at] ^= 1 << random.below(8),
        Damage::Truncation => bytes.truncate(at),
        Damage::ZeroedPage => {
            let page = at / 4096 * 4096;
            let end = (page + 4096).min(bytes.len());
            bytes[page..end].fill(0);
        }
    }
    fs::write(file, bytes).unwrap();
}

/// The number of lines of the journal that were changed. These records may be lost.
fn damaged_lines(original: &Path, damaged: &Path) -> u64 {
    let (before, after) = (fs::read(original).unwrap(), fs::read(damaged).unwrap());
    let whole = |line: &&[u8]| after.windows(line.len()).any(|window| window == *line);
    let lines = before.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| !whole(line)).count() as u64
}

/// The values that must be found after any damage that spares the journal.
struct Expected {
    trials: BTreeMap<String, Trial>,
}

/// The result of reading all values.
#[derive(Clone, Copy, Debug, Default)]
struct Read {
    /// Number of values that are missing.
    lost: u64,
    /// Number of values that differ from those that were written.
    wrong: u64,
}

impl Read {
    fn one<T: PartialEq>(&mut self, found: Option<T>, written: T) {
        match found {
            None => self.lost += 1,
            Some(found) => self.wrong += u64::from(found != written),
        }
    }
}

/// Reads all values that were written into the cache.
fn read(cache: &Cache, expected: &Expected) -> Read {
    let key = key(1);
    let mut read = Read::default();
    let mut found = BTreeMap::new();
    for trial in cache.trials(key.hash()).unwrap() {
        found.insert(trial.config.clone(), trial);
    }
    for (config, trial) in &expected.trials {
        let listed = found.remove(config);
        read.wrong += u64::from(cache.trial(&trial.id()).unwrap() != listed);
        read.one(listed, trial.clone());
    }
    // The remaining values were never written.
    read.wrong += found.len() as u64;
    read.one(cache.winner(key.hash()).unwrap(), winner(&key, 2));
    read.one(cache.search_done(key.hash()).unwrap(), done(&key, TRIALS));
    let id = kiln_cache::TrialId {
        key: key.hash(),
        config: "A=1".into(),
    };
    let confirmed = cache.confirm_processes(&id, 1).unwrap();
    read.one(confirmed.into_iter().next(), process(&key, "A=1", 1, 0));
    read.one(cache.keys(None).unwrap().into_iter().next(), key);
    read
}

/// Damages a copy of a prepared cache.
fn spoil(folder: &Path, target: Target, kind: Damage, random: &mut Random) {
    let mut stores = Vec::new();
    files_under(&folder.join(STORE), &mut stores);
    if !matches!(target, Target::Journal | Target::JournalAlone) {
        // In three of four cases, the file that has the records is damaged.
        let pick = match random.below(4) {
            0 => random.below(stores.len() as u64) as usize,
            _ => stores.iter().position(|file| file.ends_with("db")).unwrap(),
        };
        damage(&stores[pick], kind, random);
    }
    if target >= Target::Journal {
        damage(&folder.join(JOURNAL), kind, random);
    }
    if target == Target::JournalAlone {
        fs::remove_dir_all(folder.join(STORE)).unwrap();
    }
}

/// Runs one case: damages a copy, opens it and compares the values.
fn case(
    prepared: &Path,
    target: Target,
    kind: Damage,
    random: &mut Random,
    expected: &Expected,
    figures: &mut Figures,
) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    copy_tree(prepared, folder);
    spoil(folder, target, kind, random);
    let hit = damaged_lines(&prepared.join(JOURNAL), &folder.join(JOURNAL));
    let began = Instant::now();
    let opened = catch_unwind(AssertUnwindSafe(|| open_and_compare(folder, expected)));
    figures.cases += 1;
    figures.hit += hit;
    figures.slowest_ms = figures.slowest_ms.max(began.elapsed().as_millis());
    let Ok((read, warnings)) = opened else {
        figures.panics += 1;
        return;
    };
    figures.lost += read.lost;
    figures.wrong += read.wrong;
    figures.noticed += u64::from(!warnings.is_empty());
    let aside = |w: &Warning| matches!(w, Warning::StoreSetAside { .. });
    figures.set_aside += u64::from(warnings.iter().any(aside));
    let allowed = match target {
        // The undamaged file has all records.
        Target::FreshStore | Target::ClosedStore | Target::Journal => 0,
        Target::JournalAlone | Target::Both => hit,
    };
    let lost = read.lost;
    assert!(
        lost <= allowed,
        "{target:?} {kind:?}: {lost} lost, {hit} hit: {warnings:?}"
    );
    if target == Target::JournalAlone && kind != Damage::Truncation {
        assert_counted(hit, &warnings);
    }
}

/// A flipped bit or a zeroed page in the journal must be reported, with the right number of lost records.
fn assert_counted(hit: u64, warnings: &[Warning]) {
    let said = warnings.iter().find_map(|warning| match warning {
        Warning::JournalDamaged { lost, .. } => Some(*lost),
        Warning::TornRecord { .. } => Some(1),
        _ => None,
    });
    let said = said.unwrap_or_else(|| panic!("{hit} damaged records went unnoticed: {warnings:?}"));
    // Records at the end of the file have no successor that reveals their number, so damage there is counted once.
    assert!(
        (1..=hit).contains(&said),
        "said {said} lost, {hit} were hit"
    );
}

fn open_and_compare(folder: &Path, expected: &Expected) -> (Read, Vec<Warning>) {
    let options = || {
        OpenOptions::new()
            .probe(children::probe())
            .deadline(DEADLINE)
    };
    let (cache, warnings) = Cache::open(folder, options()).unwrap();
    let read = read(&cache, expected);
    // The repair leaves nothing damaged, but what it lost is reported.
    let repaired = VerifyReport {
        lost_in_repair: 0,
        ..cache.verify().unwrap()
    };
    assert!(repaired.is_sound(), "{repaired:?}");
    // The cache continues to work, and a repair is permanent.
    cache.remember_key(&key(1)).unwrap();
    cache.finish(trial(&key(1), 1000)).unwrap();
    cache.close().unwrap();
    let (cache, again) = Cache::open(folder, options()).unwrap();
    // A flipped bit in free space of the store can destroy a record that is written there later. The journal has it.
    let is_harmless = |warning: &Warning| matches!(warning, Warning::StoreBehind { .. });
    assert!(again.iter().all(is_harmless), "{again:?}");
    assert_eq!(
        cache.trial(&trial(&key(1), 1000).id()).unwrap(),
        Some(trial(&key(1), 1000))
    );
    (read, warnings)
}

#[test]
fn no_damage_returns_a_wrong_value_and_only_damaged_records_are_lost() {
    let full = std::env::var_os("KILN_BARS").is_some();
    let home = tempfile::tempdir().unwrap();
    let prepared = |closed: bool| {
        let name = if closed { "closed" } else { "fresh" };
        let copy = home.path().join(name).join("copy");
        prepare(&home.path().join(name).join("cache"), closed, &copy);
        copy
    };
    let (closed, fresh) = (prepared(true), prepared(false));
    let trials = (0..TRIALS).map(|n| trial(&key(1), n));
    let expected = Expected {
        trials: trials.map(|trial| (trial.config.clone(), trial)).collect(),
    };
    let per_kind = |kind: Damage| match (kind, full) {
        (Damage::FlippedBit, true) => 300,
        (_, true) => 60,
        (Damage::FlippedBit, false) => 16,
        (_, false) => 2,
    };
    let mut random = Random(7);
    let mut wrong_or_panicked = 0;
    println!("target        damage      cases noticed aside  hit lost wrong panics slowest");
    for target in [
        Target::FreshStore,
        Target::ClosedStore,
        Target::Journal,
        Target::JournalAlone,
        Target::Both,
    ] {
        let from = if target == Target::FreshStore {
            &fresh
        } else {
            &closed
        };
        for kind in [Damage::FlippedBit, Damage::Truncation, Damage::ZeroedPage] {
            let mut figures = Figures::default();
            for _ in 0..per_kind(kind) {
                case(from, target, kind, &mut random, &expected, &mut figures);
            }
            println!(
                "{:<13} {:<11} {:>5} {:>7} {:>5} {:>4} {:>4} {:>5} {:>6} {:>4} ms",
                format!("{target:?}"),
                format!("{kind:?}"),
                figures.cases,
                figures.noticed,
                figures.set_aside,
                figures.hit,
                figures.lost,
                figures.wrong,
                figures.panics,
                figures.slowest_ms
            );
            wrong_or_panicked += figures.wrong + figures.panics;
        }
    }
    assert_eq!(wrong_or_panicked, 0);
}

#[test]
fn a_journal_cut_at_any_record_is_noticed_and_written_again_from_the_database() {
    let home = tempfile::tempdir().unwrap();
    let (cache, copy) = (home.path().join("cache"), home.path().join("copy"));
    prepare(&cache, true, &copy);
    let journal = fs::read(copy.join(JOURNAL)).unwrap();
    let ends = (0..journal.len()).filter(|at| journal[*at] == b'\n');
    let ends: Vec<_> = ends.map(|at| at + 1).collect();
    for end in [0, ends[0], ends[ends.len() / 2], ends[ends.len() - 2]] {
        let folder = home.path().join(format!("cut-{end}"));
        copy_tree(&copy, &folder);
        fs::write(folder.join(JOURNAL), &journal[..end]).unwrap();
        let (cache, warnings) = samples::reopen(&folder);
        let found = ends.iter().filter(|at| **at <= end).count() as u64;
        let expected = ends.len() as u64;
        assert_eq!(warnings, [Warning::JournalCutShort { found, expected }]);
        assert_eq!(cache.trials(key(1).hash()).unwrap().len() as u64, TRIALS);
        assert!(cache.verify().unwrap().is_sound());
    }
}
