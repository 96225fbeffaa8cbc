//! Tests that writers which are killed at any moment lose no acknowledged record.
#![allow(clippy::unwrap_used)]

mod children;
mod samples;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use kiln_cache::{Begin, Cache, OpenOptions, Warning};
use samples::{Random, key, trial};

/// The trials that a writer reported before it was killed.
#[derive(Default)]
struct Said {
    begun: BTreeSet<u64>,
    finished: BTreeSet<u64>,
}

/// Starts a writer, and kills it at a random moment while it opens the cache or writes.
fn write_and_kill(folder: &Path, random: &mut Random, said: &mut Said) {
    let mut writer = children::spawn("write_for_ever", folder);
    let output = BufReader::new(writer.stdout.take().unwrap());
    let (spoke, speaks) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut lines = Vec::new();
        for line in output.lines().map_while(Result::ok) {
            if children::said(&line).is_some() {
                // The receiver is dropped after the first message.
                let _ = spoke.send(());
            }
            lines.push(line);
        }
        lines
    });
    if random.below(4) > 0 {
        speaks.recv().unwrap();
    }
    std::thread::sleep(Duration::from_millis(random.below(80)));
    writer.kill().unwrap();
    writer.wait().unwrap();
    let lines: Vec<String> = reader.join().unwrap();
    for words in lines.iter().filter_map(|line| children::said(line)) {
        let (word, n) = words.split_once(' ').unwrap();
        match word {
            "begun" => said.begun.insert(n.parse().unwrap()),
            "finished" => said.finished.insert(n.parse().unwrap()),
            other => panic!("the writer said {other} {n}"),
        };
    }
}

/// Opens the cache and compares it with what was acknowledged. Returns the warnings.
fn check(folder: &Path, said: &Said) -> Vec<Warning> {
    let options = OpenOptions::new().probe(children::probe());
    let (cache, warnings) = Cache::open(folder, options).unwrap();
    let found = cache.trials(key(1).hash()).unwrap();
    for n in &said.finished {
        let expected = trial(&key(1), *n);
        assert_eq!(
            cache.trial(&expected.id()).unwrap(),
            Some(expected),
            "trial {n} was acknowledged and is lost"
        );
    }
    // In each round, at most the record that was being written at the time of the kill is not acknowledged.
    for found in &found {
        let n: u64 = found.config[6..]
            .split(',')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(*found, trial(&key(1), n), "a wrong value was returned");
    }
    for n in said.begun.iter().filter(|n| !said.finished.contains(n)) {
        let id = trial(&key(1), *n).id();
        let ended = cache.trial(&id).unwrap().is_some();
        assert!(
            ended || cache.strikes(&id).unwrap() > 0,
            "the start of {n} was acknowledged and left no strike"
        );
    }
    assert!(cache.verify().unwrap().is_sound());
    warnings
}

#[test]
fn no_acknowledged_record_is_lost_to_a_kill() {
    let rounds = if std::env::var_os("KILN_BARS").is_some() {
        300
    } else {
        25
    };
    let folder = tempfile::tempdir().unwrap();
    let (mut random, mut said) = (Random(1), Said::default());
    let (mut behind, mut torn, mut aside) = (0, 0, 0);
    for _ in 0..rounds {
        write_and_kill(folder.path(), &mut random, &mut said);
        for warning in check(folder.path(), &said) {
            match warning {
                Warning::StoreBehind { .. } => behind += 1,
                Warning::TornRecord { .. } => torn += 1,
                Warning::StoreSetAside { .. } => aside += 1,
                other => panic!("a kill must not cause: {other}"),
            }
        }
    }
    let acknowledged = said.finished.len();
    println!(
        "kill -9: {rounds} rounds, {acknowledged} trials acknowledged, 0 lost; \
         store behind {behind}, set aside {aside}, half records dropped {torn}"
    );
    assert!(acknowledged > rounds, "the writers hardly wrote");
}

#[test]
fn a_config_that_kills_its_process_twice_is_not_begun_a_third_time() {
    let folder = tempfile::tempdir().unwrap();
    let id = trial(&key(1), 0).id();
    for attempt in 1..=2 {
        let mut writer = children::spawn("begin_and_die", folder.path());
        assert!(!writer.wait().unwrap().success());
        let (cache, _) = samples::reopen(folder.path());
        assert_eq!(cache.strikes(&id).unwrap(), attempt);
    }
    let (cache, _) = samples::reopen(folder.path());
    assert_eq!(cache.begin(&id).unwrap(), Begin::Quarantined { strikes: 2 });
}
