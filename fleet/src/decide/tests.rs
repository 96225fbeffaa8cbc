use kiln_cache::Record;
use kiln_cache::record::{KeptReason, Verdict};

use super::*;
use crate::fold::fold;
use crate::plan::{Distinct, Stage};
use crate::samples::{
    config, continued, device, done, element, key, key_with, observed, plan, problem, process,
    session, winner,
};
use crate::sign::PrivateKey;
use crate::{Plan, Segment};

fn one_task() -> Plan {
    plan(1, 1, &[&PrivateKey::generate().unwrap()])
}

fn decision(plan: &Plan, continued: &[Plan], segments: &[Segment]) -> Decision {
    let mut decisions = decide(plan, continued, &fold(segments));
    assert_eq!(decisions.len(), 1);
    decisions.remove(0).decision
}

fn gemm() -> kiln_cache::TuningKey {
    key(0, &problem(0))
}

#[test]
fn a_task_that_nobody_finished_is_missing_and_its_elements_are_named() {
    let plan = one_task();
    let decisions = decide(&plan, &[], &fold(&[]));
    assert_eq!(decisions[0].decision, Decision::Missing);
    assert_eq!(decisions[0].unfinished, [0]);
    let begun = observed(&plan, 0, 0, &[Record::Key(gemm())]);
    assert_eq!(decision(&plan, &[], &[begun]), Decision::Missing);
}

#[test]
fn a_confirmation_that_ran_out_of_time_leaves_the_element_unfinished() {
    let plan = one_task();
    let mut records = session(&gemm(), "A=1", Err(KeptReason::Inconclusive));
    // A search is recorded as complete only together with a conclusive decision.
    records.pop();
    let first = observed(&plan, 0, 0, &records);
    let decisions = decide(&plan, &[], &fold(std::slice::from_ref(&first)));
    assert_eq!(decisions[0].decision, Decision::Missing);
    assert_eq!(decisions[0].unfinished, [0]);
    assert!(finished(&plan, &fold(std::slice::from_ref(&first))).is_empty());
    // It is a conclusive decision that a difference is too small to be proven.
    let mut records = session(&gemm(), "A=1", Err(KeptReason::NotProven));
    records.pop();
    let second = observed(&plan, 0, 1, &records);
    let both = fold(&[first, second]);
    assert_eq!(decide(&plan, &[], &both)[0].unfinished, [0; 0]);
    assert!(finished(&plan, &both).contains(&0));
}

#[test]
fn two_devices_prove_a_row_with_the_least_favourable_figures() {
    let plan = one_task();
    let first = observed(&plan, 0, 0, &session(&gemm(), "A=1", Ok(1_200_000)));
    let one = decision(&plan, &[], std::slice::from_ref(&first));
    let needs = Decision::NeedsReplica {
        config: "A=1".into(),
        have: 1,
    };
    assert_eq!(one, needs);

    let replica = continued(&plan, vec![element(Stage::Replicate, 0, &["A=1"])]);
    let mut wide = winner(&gemm(), "A=1", Ok(1_300_000));
    wide.verdict = Verdict::Proven {
        speedup_ppm: 1_300_000,
        low_ppm: 1_000_001,
        high_ppm: 1_400_000,
    };
    let second = observed(&replica, 0, 1, &[Record::Key(gemm()), Record::Sealed(wide)]);
    let plans = [plan];
    let Decision::Proven {
        config,
        winner,
        observers,
    } = decision(&replica, &plans, &[first, second])
    else {
        panic!("two devices have proven it");
    };
    assert_eq!((config.as_str(), observers.len()), ("A=1", 2));
    let least = Verdict::Proven {
        speedup_ppm: 1_200_000,
        low_ppm: 1_000_001,
        high_ppm: 1_400_000,
    };
    assert_eq!(winner.verdict, least);
}

#[test]
fn one_device_proves_nothing_by_repeating() {
    let plan = one_task();
    let mut segments = Vec::new();
    for attempt in 0..5 {
        let mut segment = observed(&plan, 0, 0, &session(&gemm(), "A=1", Ok(1_200_000)));
        segment.header.attempt = format!("{attempt:032x}");
        segments.push(segment);
    }
    let have = Decision::NeedsReplica {
        config: "A=1".into(),
        have: 1,
    };
    assert_eq!(decision(&plan, &[], &segments), have);
}

#[test]
fn a_completed_confirmation_that_proves_nothing_stops_the_row() {
    let plan = one_task();
    let replica = continued(&plan, vec![element(Stage::Replicate, 0, &["A=1"]); 3]);
    let proven = |of: &Plan, n| observed(of, 0, n, &session(&gemm(), "A=1", Ok(1_200_000)));
    for reason in [
        KeptReason::NotProven,
        KeptReason::NothingFaster,
        KeptReason::NothingValid,
    ] {
        let failed = observed(&replica, 1, 7, &session(&gemm(), "A=1", Err(reason)));
        let segments = [
            proven(&plan, 0),
            proven(&replica, 1),
            proven(&replica, 2),
            failed,
        ];
        let plans = [plan.clone()];
        let Decision::Stopped { config, why } = decision(&replica, &plans, &segments) else {
            panic!("{reason:?} stops it");
        };
        assert_eq!(config, "A=1");
        assert!(why.contains("node7"), "{why}");
    }
    // A confirmation that was not completed has no effect.
    let disturbed = session(&gemm(), "A=1", Err(KeptReason::Inconclusive));
    let disturbed = observed(&replica, 1, 7, &disturbed);
    let segments = [proven(&plan, 0), proven(&replica, 1), disturbed];
    let decision = decision(&replica, &[plan], &segments);
    assert!(matches!(decision, Decision::Proven { .. }), "{decision:?}");
}

#[test]
fn a_confirmation_that_a_later_round_hid_still_counts() {
    let plan = one_task();
    let proven = observed(&plan, 0, 0, &session(&gemm(), "A=1", Ok(1_200_000)));
    let again = observed(&plan, 0, 1, &session(&gemm(), "A=1", Ok(1_200_000)));
    // Another search tested A=1, did not prove it, and then proved another config.
    let mut records = vec![
        Record::Key(gemm()),
        Record::ConfirmProcess(process(&gemm(), "A=1", 0)),
    ];
    records.extend(session(&gemm(), "B=1", Ok(1_100_000)).into_iter().skip(1));
    let hidden = observed(&plan, 0, 2, &records);
    let segments = [proven, again, hidden];
    let needs = Decision::NeedsReplica {
        config: "B=1".into(),
        have: 1,
    };
    assert_eq!(decision(&plan, &[], &segments), needs);
}

#[test]
fn a_winner_that_a_better_one_replaced_is_not_refuted() {
    let plan = one_task();
    let mut records = session(&gemm(), "A=1", Ok(1_100_000));
    records.extend(session(&gemm(), "B=1", Ok(1_200_000)).into_iter().skip(1));
    let both = observed(&plan, 0, 0, &records);
    let first = observed(&plan, 0, 1, &session(&gemm(), "B=1", Ok(1_200_000)));
    let decision = decision(&plan, &[], &[both, first]);
    assert!(
        matches!(&decision, Decision::Proven { config, .. } if config == "B=1"),
        "{decision:?}"
    );
}

#[test]
fn searches_that_disagree_need_a_final_and_its_winner_is_taken() {
    let plan = one_task();
    let a = observed(&plan, 0, 0, &session(&gemm(), "A=1", Ok(1_500_000)));
    let b = observed(&plan, 0, 1, &session(&gemm(), "B=1", Ok(1_100_000)));
    let searched = Decision::Searched {
        finalists: vec!["A=1".into(), "B=1".into()],
    };
    let both = [a.clone(), b.clone()];
    assert_eq!(decision(&plan, &[], &both), searched);

    let decisions = decide(&plan, &[], &fold(&both));
    let elements = next(&plan, &decisions, Stage::Final, 8);
    assert_eq!(elements, [element(Stage::Final, 0, &["A=1", "B=1"])]);
    let last = continued(&plan, elements);
    let finals = observed(&last, 0, 2, &session(&gemm(), "B=1", Ok(1_100_000)));
    let plans = [plan];
    let decided = decision(&last, &plans, &[a.clone(), b.clone(), finals.clone()]);
    assert!(
        matches!(&decided, Decision::Proven { config, .. } if config == "B=1"),
        "{decided:?}"
    );
    // A second copy of the final chose another config. The decision uses the config that more devices have proven.
    let copy = observed(&last, 0, 3, &session(&gemm(), "C=1", Ok(1_900_000)));
    let ignored = decision(&last, &plans, &[a.clone(), b.clone(), finals.clone(), copy]);
    assert_eq!(ignored, decided, "C=1 was not among the finalists");
    let copy = observed(&last, 0, 3, &session(&gemm(), "A=1", Ok(1_900_000)));
    let tie = decision(&last, &plans, &[a, b, finals, copy]);
    assert!(
        matches!(&tie, Decision::Proven { config, .. } if config == "A=1"),
        "{tie:?}"
    );
}

#[test]
fn a_task_whose_observers_all_kept_the_baseline_is_kept() {
    let plan = one_task();
    let kept = |n| {
        let records = [
            Record::Key(gemm()),
            Record::Sealed(winner(&gemm(), "", Err(KeptReason::NothingFaster))),
        ];
        observed(&plan, 0, n, &records)
    };
    assert_eq!(decision(&plan, &[], &[kept(0), kept(1)]), Decision::Kept);
    let only_done = observed(&plan, 0, 0, &[Record::Key(gemm()), done(&gemm(), 3)]);
    assert_eq!(decision(&plan, &[], &[only_done]), Decision::Kept);
}

#[test]
fn a_shard_that_found_nothing_does_not_stop_what_another_found() {
    let plan = one_task();
    let found = observed(&plan, 0, 0, &session(&gemm(), "A=1", Ok(1_500_000)));
    let nothing = [
        Record::Key(gemm()),
        Record::Sealed(winner(&gemm(), "", Err(KeptReason::NothingFaster))),
    ];
    let nothing = observed(&plan, 0, 1, &nothing);
    let needs = Decision::NeedsReplica {
        config: "A=1".into(),
        have: 1,
    };
    assert_eq!(decision(&plan, &[], &[found, nothing]), needs);
}

#[test]
fn observers_that_contradict_each_other_stop_the_row() {
    let plan = one_task();
    let honest = observed(&plan, 0, 0, &session(&gemm(), "A=1", Ok(1_500_000)));
    let mut lie = winner(&gemm(), "A=1", Ok(1_500_000));
    lie.symbol = "gemm_other".into();
    let lie = observed(&plan, 0, 1, &[Record::Key(gemm()), Record::Sealed(lie)]);
    let decision = decision(&plan, &[], &[honest, lie]);
    assert!(
        matches!(&decision, Decision::Stopped { why, .. } if why.contains("symbol")),
        "{decision:?}"
    );
}

#[test]
fn keys_that_differ_in_any_one_field_are_never_mixed() {
    let plan = one_task();
    let a = observed(&plan, 0, 0, &session(&gemm(), "A=1", Ok(1_500_000)));
    let fields = gemm().fields().clone();
    assert!(fields.len() > 20);
    for field in fields.keys() {
        let other = changed(&gemm(), field);
        assert_ne!(other.hash(), gemm().hash());
        let mut records = session(&gemm(), "A=1", Ok(1_500_000));
        for record in &mut records {
            match record {
                Record::Key(key) => *key = other.clone(),
                Record::ConfirmProcess(process) => process.key = other.hash(),
                Record::Sealed(winner) => {
                    winner.key = other.hash();
                    winner.kernel = other.kernel().into();
                    winner.problem = other.field("problem").into();
                    let part = |part: &str| other.field(&format!("device.{part}")).to_owned();
                    winner.device.arch = part("arch");
                    winner.device.name = part("name");
                }
                Record::SearchDone(done) => done.key = other.hash(),
                _ => {}
            }
        }
        let b = observed(&plan, 0, 1, &records);
        let decisions = decide(&plan, &[], &fold(&[a.clone(), b]));
        let needs = Decision::NeedsReplica {
            config: "A=1".into(),
            have: 1,
        };
        assert_eq!(decisions.len(), 1, "{field}");
        assert_eq!(decisions[0].decision, needs, "{field}");
        let identity = ["kernel", "problem", "spec", "source"];
        let kind = ["device.backend", "device.arch", "device.name"];
        if identity.contains(&field.as_str()) || kind.contains(&field.as_str()) {
            assert_eq!(decisions[0].left_out, [], "{field}");
        } else {
            // Both keys are reported, with the field that differs.
            let left = &decisions[0].left_out;
            assert_eq!(left.len(), 1, "{field}");
            assert!(left[0].differs[0].starts_with(field), "{:?}", left[0]);
        }
    }
}

/// The key with another value in one field, and with the hash of the changed fields.
fn changed(key: &kiln_cache::TuningKey, field: &str) -> kiln_cache::TuningKey {
    let mut stored = serde_json::to_value(key).unwrap();
    let value = match field {
        "device.backend" => "cpu".to_owned(),
        _ => format!("{}9", key.field(field)),
    };
    stored["fields"][field] = value.into();
    // The error message contains the right hash.
    let error = serde_json::from_value::<kiln_cache::TuningKey>(stored.clone()).unwrap_err();
    let text = error.to_string();
    let hash = text.rsplit(' ').next().unwrap().to_owned();
    stored["hash"] = hash.into();
    serde_json::from_value(stored).unwrap()
}

#[test]
fn two_devices_of_a_kind_share_a_key_and_two_of_one_uuid_are_one() {
    let id = |uuid: Option<&str>, host: Option<&str>, key: &str| ObserverId {
        uuid: uuid.map(str::to_owned),
        host: host.map(str::to_owned),
        key: key.into(),
    };
    let count = |observers: &[ObserverId], by| distinct_observers(observers.to_vec(), by).len();
    let device = Distinct::Device;
    let two = [id(Some("a"), Some("h"), "k"), id(Some("b"), Some("h"), "k")];
    assert_eq!(count(&two, device), 2);
    assert_eq!(count(&two, Distinct::Key), 1);
    let one = [id(Some("a"), Some("h"), "k"), id(Some("a"), Some("i"), "l")];
    assert_eq!([count(&one, device), count(&one, Distinct::Key)], [1, 1]);
    let without = [
        id(None, Some("h"), "k"),
        id(None, Some("i"), "l"),
        id(None, None, "m"),
    ];
    assert_eq!(
        [count(&without, device), count(&without, Distinct::Key)],
        [2, 2]
    );
    let mixed = [id(Some("a"), Some("h"), "k"), id(None, Some("h"), "k")];
    assert_eq!(count(&mixed, device), 1);
    // Device a has the keys k and l, and device b has the key k. Therefore b with k and a with l are distinct.
    let overlap = [
        id(Some("a"), None, "k"),
        id(Some("a"), None, "l"),
        id(Some("b"), None, "k"),
    ];
    assert_eq!(count(&overlap, Distinct::Key), 2);
    // Device a may be the device of host h.
    let perhaps_one = [id(Some("a"), None, "k"), id(None, Some("h"), "l")];
    assert_eq!(count(&perhaps_one, device), 1);
    let known = [
        id(Some("a"), None, "k"),
        id(Some("a"), Some("g"), "k"),
        id(None, Some("h"), "l"),
    ];
    assert_eq!(count(&known, device), 2);
    let most = [
        id(Some("a"), None, "k"),
        id(None, Some("h"), "l"),
        id(None, Some("i"), "m"),
    ];
    assert_eq!([count(&most, device), count(&most, Distinct::Key)], [2, 2]);
}

#[test]
fn the_driver_with_the_most_observers_is_decided_and_the_other_is_named() {
    let plan = one_task();
    let old = key_with(0, &problem(0), "old");
    let new = key_with(0, &problem(0), "new");
    let segments = [
        observed(&plan, 0, 0, &session(&old, "A=1", Ok(1_500_000))),
        observed(&plan, 0, 1, &session(&new, "B=1", Ok(1_100_000))),
        observed(&plan, 0, 2, &session(&new, "B=1", Ok(1_100_000))),
    ];
    let decisions = decide(&plan, &[], &fold(&segments));
    assert_eq!(decisions[0].key, Some(new.hash()));
    assert!(
        matches!(&decisions[0].decision, Decision::Proven { config, .. } if config == "B=1"),
        "{:?}",
        decisions[0].decision
    );
    let left = &decisions[0].left_out;
    assert_eq!(
        (left.len(), left[0].key, left[0].observers),
        (1, old.hash(), 1)
    );
    assert_eq!(left[0].differs, ["driver: old (not new)"]);
}

#[test]
fn what_an_element_was_not_given_does_not_count() {
    let plan = plan(2, 2, &[&PrivateKey::generate().unwrap()]);
    // Element 0 has problem 0 on kind 0.
    let other_problem = observed(
        &plan,
        0,
        0,
        &session(&key(0, &problem(1)), "A=1", Ok(1_500_000)),
    );
    let other_kind = observed(
        &plan,
        0,
        1,
        &session(&key(1, &problem(0)), "A=1", Ok(1_500_000)),
    );
    let mut other_plan = observed(
        &plan,
        0,
        2,
        &session(&key(0, &problem(0)), "A=1", Ok(1_500_000)),
    );
    other_plan.header.plan = "0".repeat(64);
    let mut other_element = observed(
        &plan,
        0,
        3,
        &session(&key(0, &problem(0)), "A=1", Ok(1_500_000)),
    );
    other_element.header.element = 99;
    let without_key = observed(
        &plan,
        0,
        4,
        &session(&key(0, &problem(0)), "A=1", Ok(1_500_000))[1..],
    );
    let all = [
        other_problem,
        other_kind,
        other_plan,
        other_element,
        without_key,
    ];
    let decisions = decide(&plan, &[], &fold(&all));
    assert_eq!(decisions.len(), 4);
    assert!(
        decisions.iter().all(|d| d.decision == Decision::Missing),
        "{decisions:?}"
    );
}

#[test]
fn a_winner_that_says_another_device_or_problem_than_its_key_does_not_count() {
    let plan = plan(1, 1, &[&PrivateKey::generate().unwrap()]);
    let change: [fn(&mut Winner); 3] = [
        |winner| winner.device = device(5),
        |winner| winner.problem = "n=77".into(),
        |winner| winner.kernel = "other".into(),
    ];
    for (n, change) in change.into_iter().enumerate() {
        let mut records = session(&gemm(), &config(1), Ok(1_500_000));
        for record in &mut records {
            if let Record::Sealed(winner) = record {
                change(winner);
            }
        }
        records.pop();
        let segment = observed(&plan, 0, n, &records);
        assert_eq!(decision(&plan, &[], &[segment]), Decision::Missing);
    }
}

#[test]
fn the_next_plan_has_an_element_for_each_observer_that_is_missing() {
    let worker = PrivateKey::generate().unwrap();
    let plan = Plan {
        replicas: 3,
        ..plan(1, 4, &[&worker])
    };
    let segments: Vec<Segment> = (0..3)
        .map(|n| {
            let records = session(&key(0, &problem(n)), "A=1", Ok(1_500_000));
            observed(&plan, n as u32, n, &records)
        })
        .collect();
    let observations = fold(&segments);
    assert_eq!(finished(&plan, &observations), [0, 1, 2].into());
    let decisions = decide(&plan, &[], &observations);
    let replicate = next(&plan, &decisions, Stage::Replicate, 2);
    let sizes: Vec<usize> = replicate
        .iter()
        .map(|element| element.tasks.len())
        .collect();
    assert_eq!(sizes, [2, 1, 2, 1]);
    assert!(
        replicate
            .iter()
            .all(|e| e.tasks.iter().all(|task| task.configs == ["A=1"]))
    );
    let search = next(&plan, &decisions, Stage::Search, 2);
    assert_eq!(search, [element(Stage::Search, 3, &[])]);
}
