//! Whole fleets: nodes that fail, devices that are slow, and stores with much in them.
#![allow(clippy::unwrap_used)]

mod samples;
mod simulation;

use kiln_cache::Record;
use kiln_cache::record::KeptReason;
use kiln_fleet::collect::{Seen, collect};
use kiln_fleet::{Decision, Folder, Plan, PrivateKey, Stage, decide, fold, next};
use samples::{
    NOW, Random, cases, continued, key, observed, plan, problem, publish, session, trial,
};
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

/// Proves a config on each device with a probability in millionths, by the device's number.
fn row_is_baked(plan: &Plan, random: &mut Random, proves_ppm: [u64; 2]) -> bool {
    let mut try_on = |plan: &Plan, device: usize| {
        let kept = Err(KeptReason::NotProven);
        let proven = random.happens(proves_ppm[device]);
        let outcome = if proven { Ok(1_050_000) } else { kept };
        observed(
            plan,
            0,
            device,
            &session(&key(0, &problem(0)), "A=1", outcome),
        )
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

#[test]
fn a_config_that_is_fast_on_one_device_only_is_never_baked() {
    let plan = plan(1, 1, &[&PrivateKey::generate().unwrap()]);
    let mut random = Random(5);
    for _ in 0..cases(100, 1000) {
        assert!(!row_is_baked(&plan, &mut random, [1_000_000, 0]));
        assert!(!row_is_baked(&plan, &mut random, [0, 1_000_000]));
        assert!(row_is_baked(&plan, &mut random, [1_000_000, 1_000_000]));
    }
}

#[test]
fn a_false_claim_needs_two_devices_that_err_in_the_same_task() {
    // Each confirmation errs once in 100 times the plan's claims, as their correction makes it: 200 fleets of 100 tasks.
    let plan = plan(1, 1, &[&PrivateKey::generate().unwrap()]);
    let errs_ppm = 1_000_000 / (100 * 100);
    let mut random = Random(6);
    let (fleets, tasks) = (cases(20, 200), 100);
    let false_claims = (0..fleets * tasks)
        .filter(|_| row_is_baked(&plan, &mut random, [errs_ppm; 2]))
        .count();
    assert_eq!(false_claims, 0);
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
