//! Attempts at an element of a plan that end early, because they are killed, terminated or cut off from the store.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use kiln_cache::Record;
use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::command::expect_code;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;

use super::{FASTEST, Fleet, LARGE, files, states, unpublished_trials};

/// A plan with one element, which takes a few seconds on the devices `a` and `b`.
fn long_element() -> Fleet {
    let fleet = Fleet::with_space(LARGE, &[10_000]);
    for device in ["a", "b"] {
        let slow = json!({"noise": {}, "rules": [{"compile": {"slow_ms": 150}}]});
        fleet.device(device, &slow);
    }
    fleet.plan("--replicas 1 --trials 60");
    fleet
}

/// An attempt at the element on the device `a`.
struct Attempt {
    child: Child,
    said: BufReader<ChildStdout>,
    acknowledged: u64,
}

impl Attempt {
    /// Starts an attempt that publishes its records at this interval.
    fn start(fleet: &Fleet, publish_every: &str) -> Attempt {
        let mut work = fleet.work("fleet.plan", 0, "a");
        work.args(["--publish-every", publish_every])
            .process_group(0);
        work.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = work.spawn().expect("tune should start");
        let said = BufReader::new(child.stdout.take().expect("it has a standard output"));
        Attempt {
            child,
            said,
            acknowledged: 0,
        }
    }

    /// Starts an attempt, and waits until the store has the result of a config.
    fn begin(fleet: &Fleet) -> Attempt {
        let mut attempt = Attempt::start(fleet, "1s");
        let is_known = || {
            let mut journals = fleet.records().into_values();
            journals.any(|records| !configs(&records).0.is_empty())
        };
        while attempt.acknowledged == 0 || !is_known() {
            let more = attempt.hear();
            assert!(more, "an element should acknowledge what it measured");
        }
        attempt
    }

    /// Reads a line of the attempt's output. Returns `false` at the end.
    fn hear(&mut self) -> bool {
        let mut line = String::new();
        let read = self.said.read_line(&mut line);
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["acknowledged", _, record] = words[..] {
            self.acknowledged = record.parse().expect("a record has a number");
        }
        read.is_ok_and(|bytes| bytes > 0)
    }

    fn runs(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|ended| ended.is_none())
    }

    fn signal(&self, signal: Signal) {
        let group = Pid::from_child(&self.child);
        kill_process_group(group, signal).expect("it should run");
    }

    /// Waits for the attempt to end. Returns its exit code, if it has one, and the number of its last acknowledged
    /// record.
    fn end(mut self) -> (Option<i32>, u64) {
        while self.hear() {}
        let status = self.child.wait().expect("it should end");
        (status.code(), self.acknowledged)
    }
}

/// The configs whose trials ended, and the configs whose trials were started.
fn configs(records: &[Record]) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let (mut ended, mut started) = (BTreeSet::new(), BTreeSet::new());
    for record in records {
        match record {
            Record::End(trial) if trial.stands() => _ = ended.insert(trial.config.as_str()),
            Record::Start { trial, .. } => _ = started.insert(trial.config.as_str()),
            _ => {}
        }
    }
    (ended, started)
}

#[test]
fn an_element_that_is_killed_loses_no_acknowledged_trial_and_goes_on_from_there() {
    let name = "an_element_that_is_killed_loses_no_acknowledged_trial_and_goes_on_from_there";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let kills = if in_full() { 50 } else { 1 };
    for kill in 0..kills {
        let fleet = long_element();
        let attempt = Attempt::begin(&fleet);
        std::thread::sleep(Duration::from_millis(40 * kill));
        attempt.signal(Signal::KILL);
        let (_, acknowledged) = attempt.end();
        let before = fleet.records();
        let [(killed, records)] = before.iter().collect::<Vec<_>>()[..] else {
            panic!("one attempt should have published: {before:?}");
        };
        assert!(records.len() as u64 >= acknowledged, "{acknowledged}");
        let (known, _) = configs(records);
        assert!(!known.is_empty(), "{records:?}");
        let lost = unpublished_trials(&fleet);
        assert!(lost.len() == 1 && lost[0] <= MAX_REDONE, "{lost:?}");

        expect_code(&mut fleet.work("fleet.plan", 0, "a"), 0);
        let mut after = fleet.records();
        after.remove(killed);
        let (_, second) = after
            .pop_first()
            .expect("the second attempt should publish");
        let (_, started) = configs(&second);
        assert!(
            !started.is_empty(),
            "the killed attempt had measured everything"
        );
        assert!(known.is_disjoint(&started), "{known:?} again: {started:?}");
        let merged = fleet.merge("fleet.plan", "", 0);
        assert_eq!(states(&merged), ["proven"], "{merged}");
        assert_eq!(merged["tasks"][0]["config"], FASTEST, "{merged}");
    }
}

/// Largest number of trials that the death of an attempt may cost.
const MAX_REDONE: usize = 64;

#[test]
fn a_killed_element_of_fast_trials_loses_few_of_them_however_long_the_period_is() {
    let name = "a_killed_element_of_fast_trials_loses_few_of_them_however_long_the_period_is";
    // Needs an idle machine, because a busy one may delay the thread that publishes.
    if !have(name, &[Need::Bars, Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let items: Vec<String> = (1..=64).map(|n| n.to_string()).collect();
    let space = format!(
        "THREADS in [32, 64, 128, 256], ITEMS in [{}]",
        items.join(", ")
    );
    let mut lost = Vec::new();
    for kill in 0..20 {
        let fleet = Fleet::with_space(&space, &[10_000]);
        fleet.device(
            "a",
            &json!({"noise": {}, "rules": [{"compile": {"slow_ms": 15}}]}),
        );
        // Every config, so that the search does not stop after the first ones.
        fleet.plan("--replicas 1 --trials all");
        let mut attempt = Attempt::start(&fleet, "10m");
        while fleet.records().is_empty() {
            assert!(attempt.runs(), "it should publish before it ends");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(150 * kill));
        attempt.signal(Signal::KILL);
        attempt.end();
        lost.extend(unpublished_trials(&fleet));
    }
    println!("trials lost by each kill: {lost:?}");
    assert_eq!(lost.len(), 20);
    assert!(lost.iter().all(|trials| *trials <= MAX_REDONE), "{lost:?}");
}

#[test]
fn an_element_that_is_terminated_publishes_and_asks_to_be_run_again() {
    let name = "an_element_that_is_terminated_publishes_and_asks_to_be_run_again";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let fleet = long_element();
    // With this interval, nothing is published before the signal.
    let attempt = Attempt::start(&fleet, "10m");
    let journal = || files(fleet.root(), "journal.kiln").pop();
    let length = || journal().map_or(0, |path| fs::metadata(path).map_or(0, |file| file.len()));
    while length() < 8 << 10 {
        std::thread::sleep(Duration::from_millis(10));
    }
    attempt.signal(Signal::TERM);
    let (code, acknowledged) = attempt.end();
    assert_eq!(code, Some(75));
    let records = fleet.records();
    let (_, records) = records.first_key_value().expect("it should have published");
    assert_eq!(records.len() as u64, acknowledged);
    assert!(!configs(records).0.is_empty(), "{records:?}");
    assert_eq!(journal(), None, "the scratch folder should be gone");
}

#[test]
fn a_node_that_is_cut_off_and_comes_back_adds_results_and_changes_none() {
    let name = "a_node_that_is_cut_off_and_comes_back_adds_results_and_changes_none";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let fleet = long_element();
    let cut_off = Attempt::begin(&fleet);
    cut_off.signal(Signal::STOP);
    // The scheduler starts a second copy of the element on another node.
    expect_code(&mut fleet.work("fleet.plan", 0, "b"), 0);
    let alone = fleet.merge("fleet.plan", " --dry-run", 0);
    cut_off.signal(Signal::CONT);
    assert_eq!(cut_off.end().0, Some(0));
    let both = fleet.merge("fleet.plan", "", 0);
    assert_eq!(fleet.records().len(), 2);
    for merged in [alone, both] {
        assert_eq!(states(&merged), ["proven"], "{merged}");
        assert_eq!(merged["tasks"][0]["config"], FASTEST, "{merged}");
    }
}
