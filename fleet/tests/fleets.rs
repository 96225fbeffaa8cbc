//! Tests of whole fleets: nodes that fail, slow devices, and stores with many objects.
#![allow(clippy::unwrap_used)]

mod samples;
mod simulation;

use kiln_cache::Record;
use kiln_cache::record::KeptReason;
use kiln_fleet::collect::{Seen, collect};
use kiln_fleet::{Decision, Folder, Plan, PrivateKey, Stage, decide, fold, next};
use kiln_measure::noise::NoiseModel;
use kiln_measure::simulate::SimulatedLab;
use kiln_measure::span::Resolution;
use kiln_measure::{ArmId, Claim, ConfirmSettings, RaceEstimate, confirm};
use samples::{NOW, cases, continued, key, observed, plan, problem, publish, session, trial};
use simulation::{Setting, simulate};

#[test]
fn a_fleet_of_failing_nodes_loses_nothing_that_was_acknowledged() {
    let setting = Setting {
        nodes: cases(60, 1000),
        problems: cases(12, 68),
        ..Setting::default()
    };
    for seed in 0..cases(2, 5) as u64 {
        let outcome = simulate(Setting { seed, ..setting });
        assert_eq!(outcome.acknowledged_lost, 0, "{outcome:?}");
        assert_eq!(outcome.proven, outcome.tasks, "{outcome:?}");
        assert!(
            outcome.redone_ppm <= 30_000 && outcome.twice_ppm <= 200_000,
            "{outcome:?}"
        );
    }
}

/// Whether a merge writes a row for a config. `proves` says whether the device with a given number proves the config.
fn row_is_baked(plan: &Plan, proves: &mut dyn FnMut(usize) -> bool) -> bool {
    let mut try_on = |plan: &Plan, device: usize| {
        let kept = Err(KeptReason::NotProven);
        let outcome = if proves(device) { Ok(1_050_000) } else { kept };
        let records = session(&key(0, &problem(0)), "A=1", outcome);
        observed(plan, 0, device, &records)
    };
    let first = try_on(plan, 0);
    let decisions = decide(plan, &[], &fold(std::slice::from_ref(&first)));
    let elements = next(plan, &decisions, Stage::Replicate, 1);
    if elements.is_empty() {
        return false;
    }
    let replica = continued(plan, elements);
    let segments = [first, try_on(&replica, 1)];
    let decisions = decide(&replica, std::slice::from_ref(plan), &fold(&segments));
    matches!(decisions[0].decision, Decision::Proven { .. })
}

/// Whether a confirmation proves a challenger that is really `gain` times as fast as the baseline, in a plan with this
/// number of claims.
fn confirms(gain: f64, model: NoiseModel, claims: u32, seed: u64) -> bool {
    const BASE_NS: u64 = 1_000_000;
    let clock = Resolution { tick_ns: 500 };
    let times = [BASE_NS, (BASE_NS as f64 / gain) as u64];
    let claim = Claim {
        defender: ArmId(0),
        challenger: ArmId(1),
    };
    let expected = RaceEstimate {
        ratio: 1.0 / gain,
        defender_span_ns: times[0],
        challenger_span_ns: times[1],
    };
    let settings = ConfirmSettings {
        claims,
        ..ConfirmSettings::new(clock, seed)
    };
    let mut lab = SimulatedLab::new(times.to_vec(), model, seed);
    let result = confirm(&mut lab, claim, expected, settings, Vec::new(), &mut |_| {});
    result.is_faster()
}

#[test]
fn a_config_that_is_fast_on_one_device_only_is_never_baked() {
    let plan = plan(1, 1, &[&PrivateKey::generate().unwrap()]);
    let mut seed = 0;
    let mut count = |gains: [f64; 2]| {
        let rows = (0..100).filter(|_| {
            row_is_baked(&plan, &mut |device| {
                seed += 1;
                confirms(gains[device], NoiseModel::nominal(), 100, seed)
            })
        });
        rows.count()
    };
    assert_eq!(count([1.05, 1.0]), 0);
    assert_eq!(count([1.0, 1.05]), 0);
    let both = count([1.05, 1.05]);
    println!("+5 % on both devices: {both} of 100 baked");
    assert!(both >= 97, "{both} of 100");
}

#[test]
fn fleets_in_which_nothing_is_faster_make_no_false_claim() {
    // The finalist of every task is exactly as fast as its baseline.
    let (fleets, tasks) = (cases(4, 200), 100);
    let models = NoiseModel::all();
    let plan = plan(1, 1, &[&PrivateKey::generate().unwrap()]);
    let mut confirmed_once = 0;
    let mut wrong_fleets = 0;
    for fleet in 0..fleets {
        let (_, model) = models[fleet % models.len()];
        let wrong = (0..tasks).filter(|task| {
            let mut seed = (fleet * tasks + task) as u64 * 2;
            row_is_baked(&plan, &mut |device| {
                seed += device as u64;
                let proven = confirms(1.0, model, tasks as u32, seed);
                confirmed_once += usize::from(proven);
                proven
            })
        });
        wrong_fleets += usize::from(wrong.count() > 0);
    }
    println!(
        "{fleets} fleets of {tasks} tasks: {confirmed_once} false confirmations on one device, {wrong_fleets} fleets with a false row"
    );
    assert!(wrong_fleets * 100 <= fleets, "{wrong_fleets} of {fleets}");
}

#[test]
fn a_store_of_many_journals_is_collected_and_folded() {
    let worker = PrivateKey::generate().unwrap();
    let plan = plan(1, 1, &[&worker]);
    let folder = tempfile::tempdir().unwrap();
    let store = Folder::open(folder.path()).unwrap();
    let (journals, trials) = (cases(50, 1000), cases(40, 200) as u64);
    let key = key(0, &problem(0));
    for n in 0..journals {
        let mut records = vec![Record::Key(key.clone())];
        records.extend((0..trials).map(|t| Record::End(trial(&key, t))));
        publish(&store, &worker, &plan, (0, n), &records);
    }
    let collected = collect(&store, &plan, NOW, &mut Seen::default()).unwrap();
    assert_eq!(
        (collected.segments.len(), collected.rejected.len()),
        (journals, 0)
    );
    let observations = fold(&collected.segments);
    assert_eq!(observations.len(), journals * (trials as usize + 1));
}
