//! A cache that is damaged, locked or on a full disk. `tune` reports the problem, repairs it if possible, and
//! continues.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use kiln_cache::CacheLock;
use kiln_tests::command::tune;

use super::case::{Case, case};

/// A run that stores a few trials and a decision. A second run must read them.
const SEEDED: &str = "$TUNE run --device cpu --trials 2 >seeded 2>&1";

pub fn cases() -> Vec<Case> {
    let mut all = damage();
    all.extend(full_disks());
    all
}

fn damage() -> Vec<Case> {
    let again = "$TUNE cache stats && $TUNE cache verify";
    vec![
        case("a journal that is a folder")
            .prepare("mkdir -p -m 700 cache/journal.kiln")
            .runs("$TUNE run --device cpu")
            .says("error: cannot read the journal <root>/cache/journal.kiln: Is a directory (os error 21)"),
        case("a journal with a damaged record")
            .prepare("$TUNE run --device cpu --trials 2 >seeded 2>&1 && printf XXXX | dd of=cache/journal.kiln bs=1 seek=300 conv=notrunc 2>/dev/null")
            .runs(again)
            .fails(0, "tune: warning: the journal had 1 damaged stretches: 1 records restored from the database, 0 lost; the old file is kept as <root>/cache/journal.kiln.damaged-1"),
        case("a journal of zeros")
            .prepare("$TUNE run --device cpu --trials 2 >seeded 2>&1 && head -c 3000 /dev/zero > cache/journal.kiln")
            .runs("$TUNE cache verify")
            .fails(0, "sound"),
        case("a journal that is gone")
            .prepare("$TUNE run --device cpu --trials 2 >seeded 2>&1 && rm cache/journal.kiln")
            .runs("$TUNE cache verify")
            .fails(0, "sound"),
        case("a database that is garbage")
            .prepare("$TUNE run --device cpu --trials 2 >seeded 2>&1 && find cache/store.sled -type f | while read f; do head -c 5000 /dev/zero | tr '\\0' Z > $f; done")
            .runs("$TUNE cache verify | tail -1; test -d cache/store.sled.corrupt-1")
            .fails(0, "sound"),
    ]
}

fn full_disks() -> Vec<Case> {
    vec![
        case("no room for anything")
            .runs("ulimit -f 0; $TUNE run --device cpu")
            .says("help: run `tune cache verify`"),
        case("no room for the journal")
            .prepare(SEEDED)
            .runs("ulimit -f 1; $TUNE run --device cpu")
            .says("error: cannot write to the journal <root>/cache/journal.kiln: File too large (os error 27)"),
        case("after there was no room, nothing is lost")
            .prepare("$TUNE run --device cpu --trials 2 >seeded 2>&1 && $TUNE cache stats | grep trials > counted; (ulimit -f 1; $TUNE run --device cpu >refused 2>&1); true")
            .runs("$TUNE cache verify && $TUNE cache stats | grep trials | cmp - counted")
            .fails(0, "sound"),
    ]
}

#[test]
fn a_second_tune_waits_for_the_cache_and_says_so() {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let cache = folder.path().join("cache");
    let lock = CacheLock::try_lock(&cache).expect("the folder should be usable");
    let lock = lock.expect("nobody else has this cache");
    let mut waiting = tune(folder.path(), &cache);
    waiting
        .args(["cache", "stats"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut waiting = waiting.spawn().expect("tune should start");
    let mut said = String::new();
    let output = waiting.stderr.take().expect("standard error is a pipe");
    BufReader::new(output)
        .read_line(&mut said)
        .expect("it should say something");
    let expected = format!(
        "tune: another tune (process {}) is using {}; waiting for it to end\n",
        std::process::id(),
        cache.display()
    );
    assert_eq!(said, expected);
    assert!(waiting.try_wait().expect("tune should be known").is_none());
    drop(lock);
    assert!(waiting.wait().expect("tune should end").success());
}
