//! Tests with whole files of comparisons on a simulated lab, under every noise model: how often an unchanged file
//! raises an alarm, and how often one slow kernel in a file is found.
//!
//! By default there are few files per model. `KILN_BARS=1` runs the full counts (use `--release`).
#![allow(clippy::unwrap_used)]

use kiln_measure::noise::NoiseModel;
use kiln_measure::simulate::SimulatedLab;
use kiln_measure::span::Resolution;
use kiln_measure::{ArmId, ComparisonSettings, RaceEstimate, Ruling, SideComparison, drive};

const BASE_NS: u64 = 1_000_000;
const THRESHOLD: f64 = 0.05;

/// Number of comparisons in a file: one per kernel and problem.
const FILE: u32 = 20;

/// `full` if `KILN_BARS=1` is set, otherwise `reduced`.
fn count(full: u64, reduced: u64) -> u64 {
    if std::env::var("KILN_BARS").is_ok_and(|bars| bars == "1") {
        full
    } else {
        reduced
    }
}

/// The result of one comparison.
#[derive(Clone, Copy, Default)]
struct Found {
    slower: bool,
    faster: bool,
    /// Whether the present side is proven slower, and the upper end of the slow-down's interval reaches the threshold.
    fails: bool,
    covers: bool,
    processes: u64,
}

fn compared(slowdown: f64, model: NoiseModel, seed: u64) -> Found {
    let present_ns = (BASE_NS as f64 * slowdown) as u64;
    let mut lab = SimulatedLab::new(vec![BASE_NS, present_ns], model, seed);
    let expected = RaceEstimate {
        ratio: slowdown,
        defender_span_ns: BASE_NS,
        challenger_span_ns: present_ns,
    };
    let tick = Resolution { tick_ns: 500 };
    let settings = ComparisonSettings::new(tick, seed, FILE, THRESHOLD);
    let mut comparison = SideComparison::new(ArmId(0), ArmId(1), expected, settings);
    drive(&mut lab, &mut comparison, &mut |_| {});
    let interval = comparison.evidence().interval.unwrap();
    let slower = comparison.ruling() == Some(&Ruling::Slower);
    Found {
        slower,
        faster: comparison.ruling() == Some(&Ruling::Faster),
        fails: slower && interval.high >= 1.0 + THRESHOLD,
        covers: interval.contains(slowdown),
        processes: lab.processes(),
    }
}

#[test]
fn an_unchanged_file_raises_an_alarm_in_at_most_one_of_a_hundred_runs() {
    let files = count(1_000, 20);
    for (name, model) in NoiseModel::all() {
        let (mut alarms, mut cheers, mut processes) = (0, 0, 0);
        for file in 0..files {
            let pairs = (0..u64::from(FILE)).map(|pair| compared(1.0, model, file * 1_000 + pair));
            let pairs: Vec<Found> = pairs.collect();
            alarms += u64::from(pairs.iter().any(|found| found.slower));
            cheers += u64::from(pairs.iter().any(|found| found.faster));
            processes += pairs.iter().map(|found| found.processes).sum::<u64>();
        }
        let each = processes as f64 / (files * u64::from(FILE)) as f64;
        println!(
            "{name}: of {files} unchanged files of {FILE}: {alarms} said slower, {cheers} faster; {each:.1} processes a pair"
        );
        assert!(alarms * 100 <= files && cheers * 100 <= files, "{name}");
    }
}

#[test]
fn one_kernel_of_twenty_that_is_five_percent_slower_is_flagged() {
    let files = count(1_000, 100);
    for (name, model) in NoiseModel::all() {
        let found: Vec<Found> = (0..files)
            .map(|file| compared(1.0 + THRESHOLD, model, file))
            .collect();
        let of = |is: fn(&Found) -> bool| found.iter().filter(|found| is(found)).count() as u64;
        let (fails, slower, covers) = (
            of(|one| one.fails),
            of(|one| one.slower),
            of(|one| one.covers),
        );
        let each = found.iter().map(|one| one.processes).sum::<u64>() as f64 / files as f64;
        println!(
            "{name}: 5 % slower, one of {FILE}: flagged in {fails} of {files}, proven in {slower}; interval holds it in {covers}; {each:.1} processes"
        );
        assert_eq!(of(|one| one.faster), 0, "{name}");
        assert!(covers * 100 >= files * 94, "{name}");
        assert!(fails * 100 >= files * 95, "{name}: {fails} of {files}");
    }
}

#[test]
fn a_slow_down_well_below_the_threshold_is_told_and_does_not_fail() {
    let files = count(1_000, 100);
    let found: Vec<Found> = (0..files)
        .map(|file| compared(1.02, NoiseModel::nominal(), file))
        .collect();
    let slower = found.iter().filter(|found| found.slower).count() as u64;
    let fails = found.iter().filter(|found| found.fails).count() as u64;
    println!("2 % slower: proven in {slower}, fails at 5 % in {fails} of {files}");
    assert!(fails * 100 <= files, "{fails} of {files}");
}
