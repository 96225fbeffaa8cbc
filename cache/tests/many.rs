//! Tests with many processes on one cache: writers take turns, and readers never wait.
#![allow(clippy::unwrap_used)]

mod children;
mod samples;

use std::sync::atomic::{AtomicBool, Ordering};

use kiln_cache::Cache;
use samples::{key, trial};

#[test]
fn writers_wait_for_each_other_and_readers_read_along() {
    const WRITERS: u64 = 8;
    let folder = tempfile::tempdir().unwrap();
    let ended = AtomicBool::new(false);
    let views = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| read_until(&ended, folder.path())))
            .collect();
        let writers: Vec<_> = (0..WRITERS)
            .map(|n| children::spawn("write_ten", &folder.path().join(n.to_string())))
            .collect();
        let outputs = writers.into_iter().map(|w| w.wait_with_output().unwrap());
        let outputs: Vec<_> = outputs.collect();
        ended.store(true, Ordering::Relaxed);
        for output in outputs {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                text.lines().any(|l| children::said(l) == Some("done")),
                "{text}"
            );
        }
        readers.into_iter().map(|r| r.join().unwrap()).sum::<u64>()
    });
    let cache = samples::open(folder.path());
    for n in 0..WRITERS * 10 {
        let expected = trial(&key(1), n);
        assert_eq!(cache.trial(&expected.id()).unwrap(), Some(expected));
    }
    assert!(cache.verify().unwrap().is_sound());
    println!("{WRITERS} writers, {views} views: 0 errors, 0 lost");
}

/// Views the cache repeatedly. Every trial that is found must be complete.
fn read_until(ended: &AtomicBool, folder: &std::path::Path) -> u64 {
    let mut views = 0;
    while !ended.load(Ordering::Relaxed) {
        let view = Cache::view(folder).unwrap();
        for found in view.trials(key(1).hash()).unwrap() {
            let n = found.config[6..]
                .split(',')
                .next()
                .unwrap()
                .parse()
                .unwrap();
            assert_eq!(found, trial(&key(1), n));
        }
        views += 1;
    }
    views
}
