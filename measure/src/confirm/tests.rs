use super::effect::effect_of;
use super::*;
use crate::arm::ArmId;
use crate::fault::Fault;
use crate::lab::Clock;
use crate::noise::NoiseModel;
use crate::sample::Sample;
use crate::simulate::SimulatedLab;
use crate::span::Resolution;
use kiln_cache::Outcome;
use proptest::prelude::*;

const CLAIM: Claim = Claim {
    defender: ArmId(0),
    challenger: ArmId(1),
};

fn settings() -> ConfirmSettings {
    ConfirmSettings::new(Resolution { tick_ns: 500 }, 11)
}

fn expected(times_ns: [u64; 2]) -> RaceEstimate {
    RaceEstimate {
        ratio: times_ns[1] as f64 / times_ns[0] as f64,
        defender_span_ns: times_ns[0],
        challenger_span_ns: times_ns[1],
    }
}

fn quiet(times_ns: [u64; 2]) -> SimulatedLab {
    SimulatedLab::new(times_ns.to_vec(), NoiseModel::QUIET, 1)
}

fn test_claim(
    lab: &mut SimulatedLab,
    times_ns: [u64; 2],
    settings: ConfirmSettings,
) -> (ClaimResult, Vec<ProcessRecord>) {
    let mut records = Vec::new();
    let mut keep = |record: &ProcessRecord| records.push(record.clone());
    let verdict = confirm(
        lab,
        CLAIM,
        expected(times_ns),
        settings,
        Vec::new(),
        &mut keep,
    );
    (verdict, records)
}

#[test]
fn a_gain_without_noise_is_proven_by_eight_wins_with_its_true_ratio() {
    let times = [1_000_000, 970_000];
    let (verdict, _) = test_claim(&mut quiet(times), times, settings());
    let evidence = &verdict.evidence;
    assert_eq!(
        (verdict.is_faster(), evidence.processes, evidence.wins),
        (true, 8, 8)
    );
    assert!((evidence.median_ratio.unwrap() - 0.97).abs() < 1e-9);
    assert!(
        evidence
            .interval
            .unwrap()
            .contains(evidence.median_ratio.unwrap())
    );
    assert_eq!(evidence.defender.unwrap().median_ns, 1_000_000);
    assert_eq!(evidence.challenger.unwrap().samples, 8 * 12 * 2);
}

#[test]
fn equal_sides_are_not_proven_after_four_losses() {
    let times = [1_000_000, 1_000_000];
    let (verdict, _) = test_claim(&mut quiet(times), times, settings());
    assert_eq!(
        (verdict.decision, verdict.evidence.processes),
        (Decision::NotProven, 4)
    );
}

#[test]
fn a_gain_below_delta_is_not_proven() {
    let times = [1_000_000, 992_000];
    assert_eq!(
        test_claim(&mut quiet(times), times, settings()).0.decision,
        Decision::NotProven
    );
}

#[test]
fn swapped_sides_raise_the_alarm_when_the_baked_config_has_become_slower() {
    let (baked, baseline) = (ArmId(0), ArmId(1));
    let times = [1_100_000, 1_000_000];
    let mut lab = SimulatedLab::new(times.to_vec(), NoiseModel::nominal(), 5);
    let claim = Claim::regression(baked, baseline);
    let verdict = confirm(
        &mut lab,
        claim,
        expected(times),
        settings(),
        Vec::new(),
        &mut |_| {},
    );
    assert_eq!(
        (verdict.claim.challenger, verdict.is_faster()),
        (baseline, true)
    );
}

#[test]
fn the_second_process_of_a_pair_has_the_orders_of_the_first_reversed() {
    let times = [1_000_000, 970_000];
    let mut lab = quiet(times);
    test_claim(&mut lab, times, settings());
    for pair in lab.openings().chunks_exact(2) {
        let reversed = |order: &[ArmId]| order.iter().rev().copied().collect::<Vec<_>>();
        assert_eq!(pair[1].load, reversed(&pair[0].load));
        assert_eq!(pair[1].allocate, reversed(&pair[0].allocate));
    }
}

#[test]
fn load_order_allocation_order_and_block_order_vary_with_the_seed() {
    let first = |seed| {
        ClaimTest::new(
            CLAIM,
            expected([1, 1]),
            ConfirmSettings { seed, ..settings() },
        )
        .next_process()
        .unwrap()
    };
    let plans: Vec<_> = (0..40).map(first).collect();
    let count = |is: &dyn Fn(&ProcessPlan) -> bool| plans.iter().filter(|plan| is(plan)).count();
    assert!((8..=32).contains(&count(&|plan| plan.opening.load[0] == CLAIM.defender)));
    assert!((8..=32).contains(&count(&|plan| plan.opening.allocate[0] == CLAIM.defender)));
    assert!((8..=32).contains(&count(&|plan| plan.opening.load == plan.opening.allocate)));
    assert!((8..=32).contains(&count(&|plan| plan.plan[0] == CLAIM.defender)));
}

#[test]
fn every_block_is_abba_or_baab() {
    let plan = ClaimTest::new(CLAIM, expected([1_000_000, 970_000]), settings())
        .next_process()
        .unwrap()
        .plan;
    assert_eq!(plan.len(), 12 * 4);
    for block in plan.chunks(4) {
        assert!(block[0] == block[3] && block[1] == block[2] && block[0] != block[1]);
    }
}

#[test]
fn large_effects_need_fewer_blocks_and_processes_and_slow_launches_fewer_blocks() {
    for (times, blocks, processes) in [
        ([1_000_000, 970_000], 12, 8),
        ([1_000_000, 920_000], 6, 8),
        ([1_000_000, 900_000], 6, 6),
        ([1_000_000, 750_000], 3, 6),
        ([1_000_000, 100_000], 1, 6),
        ([100_000_000, 97_000_000], 5, 8),
        ([1_000_000_000, 10_000_000], 1, 6),
    ] {
        let (verdict, records) = test_claim(&mut quiet(times), times, settings());
        assert_eq!(records[0].asked.plan.len(), blocks * 4, "{times:?}");
        assert_eq!(
            (verdict.is_faster(), verdict.evidence.processes),
            (true, processes),
            "{times:?}"
        );
    }
}

#[test]
fn more_claims_in_a_run_need_more_processes() {
    let times = [1_000_000, 970_000];
    for (claims, processes) in [(1, 8), (3, 10), (60, 16), (500, 20)] {
        let (verdict, _) = test_claim(
            &mut quiet(times),
            times,
            ConfirmSettings {
                claims,
                ..settings()
            },
        );
        assert_eq!(
            (verdict.is_faster(), verdict.evidence.processes),
            (true, processes),
            "{claims} claims"
        );
    }
}

#[test]
fn a_side_that_fails_leaves_the_claim_inconclusive() {
    let times = [1_000_000, 500_000];
    for arm in [ArmId(0), ArmId(1)] {
        let cause = Outcome::KernelFault {
            text: "illegal address".into(),
        };
        let mut lab = quiet(times).with_fault(arm, 9, cause.clone());
        let (verdict, _) = test_claim(&mut lab, times, settings());
        assert_eq!(
            verdict.decision,
            Decision::Inconclusive(Doubt::Faulted(Fault::of(arm, cause)))
        );
    }
}

#[test]
fn sides_at_different_clocks_leave_the_claim_inconclusive() {
    let times = [1_000_000, 900_000];
    let mut lab = quiet(times).with_clocks(vec![1_500_000, 1_530_000]);
    let (verdict, _) = test_claim(&mut lab, times, settings());
    assert_eq!(
        verdict.decision,
        Decision::Inconclusive(Doubt::UnsteadyClocks)
    );
}

#[test]
fn a_gain_that_is_not_there_in_cycles_is_not_proven() {
    let times = [1_000_000, 988_000];
    // The challenger is 1.2 % faster, at a clock that is 0.6 % higher.
    let mut lab = quiet(times).with_clocks(vec![1_500_000, 1_509_000]);
    assert_eq!(
        test_claim(&mut lab, times, settings()).0.decision,
        Decision::NotProven
    );
}

#[test]
fn throttled_blocks_are_not_compared() {
    let test = ClaimTest::new(CLAIM, expected([1_000_000, 500_000]), settings());
    let asked = test.next_process().unwrap();
    let sample = |arm: &ArmId| Sample {
        throttled: true,
        ..Sample::new(1_000_000 / (1 + arm.0 as u64), 1)
    };
    let samples = asked.plan.iter().map(sample).collect();
    let effect = effect_of(CLAIM, &ProcessRecord { asked, samples });
    assert_eq!((effect.log_ratio, effect.discarded), (None, effect.blocks));
}

#[test]
fn a_spent_budget_leaves_the_claim_inconclusive() {
    let times = [1_000_000, 500_000];
    for budget_ns in [0, 1_000_000_000] {
        let (verdict, _) = test_claim(
            &mut quiet(times),
            times,
            ConfirmSettings {
                budget_ns,
                ..settings()
            },
        );
        assert_eq!(verdict.decision, Decision::Inconclusive(Doubt::BudgetSpent));
    }
}

#[test]
fn a_resumed_test_asks_for_what_the_interrupted_one_would_have() {
    let times = [1_000_000, 978_000];
    let mut lab = SimulatedLab::new(times.to_vec(), NoiseModel::nominal(), 8);
    let (verdict, records) = test_claim(&mut lab, times, settings());
    assert!(records.len() >= 8);
    let mut resumed = ClaimTest::new(CLAIM, expected(times), settings());
    for record in &records {
        assert_eq!(resumed.next_process().as_ref(), Some(&record.asked));
        resumed.push(record.clone());
    }
    assert_eq!(
        (resumed.next_process(), resumed.verdict()),
        (None, verdict.clone())
    );
    let mut idle = quiet(times);
    let replayed = confirm(
        &mut idle,
        CLAIM,
        expected(times),
        settings(),
        records,
        &mut |_| {},
    );
    assert_eq!((replayed, idle.processes()), (verdict, 0));
}

#[test]
fn records_of_another_seed_are_not_taken_in() {
    let times = [1_000_000, 970_000];
    let (_, records) = test_claim(
        &mut quiet(times),
        times,
        ConfirmSettings {
            seed: 12,
            ..settings()
        },
    );
    let mut lab = quiet(times);
    confirm(
        &mut lab,
        CLAIM,
        expected(times),
        settings(),
        records,
        &mut |_| {},
    );
    assert_eq!(lab.processes(), 8);
}

#[test]
fn a_verdict_survives_being_written_as_json() {
    let times = [1_000_000, 970_000];
    let (verdict, _) = test_claim(&mut quiet(times), times, settings());
    let text = serde_json::to_string(&verdict).unwrap();
    let read: ClaimResult = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (read.decision, read.evidence.wins),
        (verdict.decision, verdict.evidence.wins)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_claim_overruns_its_budget_by_one_request_at_most(
        budget_ns in 0u64..100_000_000_000,
        defender_ns in 1_000_000u64..2_000_000_000,
        challenger_ns in 1_000_000u64..2_000_000_000,
        seed in any::<u64>(),
    ) {
        let times = [defender_ns, challenger_ns];
        let mut lab = SimulatedLab::new(times.to_vec(), NoiseModel::nominal(), seed);
        test_claim(&mut lab, times, ConfirmSettings { budget_ns, ..settings() });
        let sum_ns = 2 * (defender_ns + challenger_ns);
        // The overrun is at most one opening with its warm-up, and one block or one request.
        let overrun_ns = 300_000_000 + 3 * sum_ns + (2 * sum_ns).max(1_000_000_000);
        prop_assert!(lab.now_ns() <= budget_ns.saturating_add(overrun_ns));
    }
}

#[test]
fn a_test_that_is_resumed_ends_as_if_it_had_not_been_cut_off() {
    for times in [[1_000_000, 970_000], [1_000_000, 300_000]] {
        let (whole, records) = test_claim(&mut quiet(times), times, settings());
        for cut in 1..records.len() {
            let effects = records[..cut]
                .iter()
                .map(|one| effect_of(CLAIM, one).log_ratio);
            let effects: Vec<f64> = effects.map(Option::unwrap).collect();
            let mut test = ClaimTest::new(CLAIM, expected(times), settings()).resumed(&effects);
            assert_eq!(test.decision(), None, "{cut} of {}", records.len());
            let mut openings = Vec::new();
            drive(&mut quiet(times), &mut test, &mut |record| {
                openings.push(record.asked.opening.clone());
            });
            let rest = records[cut..]
                .iter()
                .map(|record| record.asked.opening.clone());
            assert_eq!(openings, rest.collect::<Vec<_>>());
            let verdict = test.verdict();
            assert_eq!(verdict.decision, whole.decision);
            assert_eq!(verdict.evidence.processes, whole.evidence.processes);
            assert_eq!(verdict.evidence.wins, whole.evidence.wins);
        }
    }
}
