use super::*;
use crate::lab::Clock;
use crate::noise::NoiseModel;
use crate::simulate::SimulatedLab;
use crate::span::Resolution;
use kiln_cache::Outcome;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const TICK: Resolution = Resolution { tick_ns: 500 };

fn run(lab: &mut dyn Lab, arms: usize, settings: &RaceSettings) -> Result<RaceResult, Fault> {
    let contenders: Vec<ArmId> = (1..arms).map(ArmId).collect();
    let card = RaceCard {
        anchor: ArmId(0),
        incumbent: ArmId(0),
        contenders: &contenders,
    };
    race(
        lab,
        &card,
        settings,
        &mut ChaCha8Rng::seed_from_u64(7),
        &mut |_| {},
    )
}

fn quiet(times_ns: &[u64]) -> SimulatedLab {
    SimulatedLab::new(times_ns.to_vec(), NoiseModel::QUIET, 1)
}

fn fate(result: &RaceResult, arm: usize) -> Fate {
    result.entry(ArmId(arm)).unwrap().fate.clone()
}

#[test]
fn losers_go_the_earlier_the_slower_they_are() {
    let mut lab = quiet(&[1_000_000, 5_000_000, 1_200_000, 1_020_000, 1_005_000]);
    let result = run(&mut lab, 5, &RaceSettings::new(TICK)).unwrap();
    assert_eq!(fate(&result, 1), Fate::Dropped { at_round: 2 });
    assert_eq!(fate(&result, 2), Fate::Dropped { at_round: 3 });
    assert_eq!(fate(&result, 3), Fate::Dropped { at_round: 8 });
    assert_eq!(fate(&result, 4), Fate::Survived);
    assert_eq!((result.rounds, result.stopped), (24, Stopped::AllRounds));
}

#[test]
fn the_anchor_is_never_dropped() {
    let mut lab = quiet(&[2_000_000, 1_000_000, 1_001_000]);
    let result = run(&mut lab, 3, &RaceSettings::new(TICK)).unwrap();
    assert_eq!(
        (fate(&result, 0), result.entry(ArmId(0)).unwrap().rounds),
        (Fate::Survived, 24)
    );
    assert_eq!(result.leader, ArmId(1));
}

#[test]
fn an_anchor_four_times_slower_is_sampled_in_the_first_rounds_only() {
    let mut lab = quiet(&[100_000_000, 1_000_000, 1_001_000]);
    let result = run(&mut lab, 3, &RaceSettings::new(TICK)).unwrap();
    assert_eq!(result.entry(ArmId(0)).unwrap().rounds, 3);
    assert_eq!(result.entry(ArmId(1)).unwrap().rounds, 24);
    let ratio = result.entry(ArmId(1)).unwrap().ratio_to_anchor.unwrap();
    assert!((ratio - 0.01).abs() < 1e-9, "{ratio}");
}

#[test]
fn ratios_are_told_to_the_incumbent_and_to_the_anchor() {
    let mut lab = quiet(&[1_000_000, 800_000, 790_000, 810_000]);
    let card = RaceCard {
        anchor: ArmId(0),
        incumbent: ArmId(1),
        contenders: &[ArmId(2), ArmId(3)],
    };
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let result = race(
        &mut lab,
        &card,
        &RaceSettings::new(TICK),
        &mut rng,
        &mut |_| {},
    )
    .unwrap();
    let entry = result.entry(ArmId(2)).unwrap();
    let (to_incumbent, to_anchor) = (
        entry.ratio_to_incumbent.unwrap(),
        entry.ratio_to_anchor.unwrap(),
    );
    assert!((to_incumbent - 0.9875).abs() < 1e-9 && (to_anchor - 0.79).abs() < 1e-9);
    assert_eq!(
        (entry.summary.unwrap().median_ns, entry.span_ns),
        (790_000, Some(790_000))
    );
}

#[test]
fn equal_arms_leave_the_lead_with_the_anchor() {
    let mut lab = quiet(&[1_000_000; 4]);
    assert_eq!(
        run(&mut lab, 4, &RaceSettings::new(TICK)).unwrap().leader,
        ArmId(0)
    );
}

#[test]
fn the_rest_moves_to_fresh_processes_in_other_orders() {
    let mut lab = quiet(&[1_000_000; 9]);
    let result = run(&mut lab, 9, &RaceSettings::new(TICK)).unwrap();
    assert_eq!((result.processes, lab.processes()), (3, 3));
    let openings = lab.openings();
    assert!(openings.windows(2).all(|two| two[0].load != two[1].load));
    assert!(
        openings
            .iter()
            .all(|opening| opening.load != opening.allocate)
    );
}

#[test]
fn an_arm_that_fails_costs_only_itself() {
    let times = [1_000_000, 900_000, 700_000, 901_000];
    let cause = Outcome::KernelFault {
        text: "illegal address".into(),
    };
    for after in [0, 1, 5, 7] {
        let mut lab = quiet(&times).with_fault(ArmId(2), after, cause.clone());
        let result = run(&mut lab, 4, &RaceSettings::new(TICK)).unwrap();
        assert_eq!(
            fate(&result, 2),
            Fate::Faulted(Fault::of(ArmId(2), cause.clone()))
        );
        assert_eq!(result.leader, ArmId(1), "failing after {after}");
        assert_eq!(fate(&result, 3), Fate::Survived, "failing after {after}");
    }
}

#[test]
fn a_failing_anchor_ends_the_race() {
    let cause = Outcome::NotANumber {
        output: "y".into(),
        index: 3,
        inputs: None,
    };
    let mut lab = quiet(&[1_000_000; 3]).with_fault(ArmId(0), 4, cause.clone());
    let error = run(&mut lab, 3, &RaceSettings::new(TICK)).unwrap_err();
    assert_eq!(error, Fault::of(ArmId(0), cause));
}

#[test]
fn a_lost_device_ends_the_race_although_an_arm_is_named() {
    let cause = Outcome::DeviceLost {
        text: "fell off the bus".into(),
    };
    let mut lab = quiet(&[1_000_000; 3]).with_fault(ArmId(1), 0, cause);
    assert!(run(&mut lab, 3, &RaceSettings::new(TICK)).is_err());
    assert_eq!(lab.processes(), 1);
}

/// A lab that fails to open a process `deaths` times, without attributing the failures to an arm.
struct Dying {
    lab: SimulatedLab,
    deaths: u32,
}

impl Clock for Dying {
    fn now_ns(&self) -> u64 {
        self.lab.now_ns()
    }
}

impl Lab for Dying {
    fn open(&mut self, opening: &Opening) -> Result<Box<dyn Session + '_>, Fault> {
        if self.deaths == 0 {
            return self.lab.open(opening);
        }
        self.deaths -= 1;
        Err(Fault::unattributed(Outcome::WorkerLost {
            signal: Some(9),
            detail: "killed".into(),
        }))
    }
}

#[test]
fn two_deaths_in_a_row_are_survived_and_three_are_not() {
    let dying = |deaths| Dying {
        lab: quiet(&[1_000_000, 900_000]),
        deaths,
    };
    let settings = RaceSettings::new(TICK);
    assert_eq!(run(&mut dying(2), 2, &settings).unwrap().leader, ArmId(1));
    assert!(run(&mut dying(3), 2, &settings).is_err());
}

#[test]
fn a_sample_below_the_resolution_is_refused_and_blamed_on_its_arm() {
    let mut lab = quiet(&[1_000_000, 49_999]);
    let result = run(&mut lab, 2, &RaceSettings::new(TICK)).unwrap();
    let cause = Outcome::Internal {
        message:
            "a sample spans 49999 ns, but the shortest span that the clock resolves is 50000 ns"
                .into(),
    };
    assert_eq!(fate(&result, 1), Fate::Faulted(Fault::of(ArmId(1), cause)));
}

#[test]
fn every_arm_is_reported_once_as_it_ends() {
    let mut lab = quiet(&[1_000_000, 5_000_000, 1_200_000, 990_000]);
    let mut ended = Vec::new();
    let card = RaceCard {
        anchor: ArmId(0),
        incumbent: ArmId(0),
        contenders: &[ArmId(1), ArmId(2), ArmId(3)],
    };
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut on_end = |entry: &RaceEntry| ended.push(entry.arm.0);
    race(
        &mut lab,
        &card,
        &RaceSettings::new(TICK),
        &mut rng,
        &mut on_end,
    )
    .unwrap();
    assert_eq!(ended[..2], [1, 2]);
    ended.sort_unstable();
    assert_eq!(ended, [0, 1, 2, 3]);
}

#[test]
fn a_race_without_contenders_opens_no_process() {
    let mut lab = quiet(&[1_000_000]);
    let result = run(&mut lab, 1, &RaceSettings::new(TICK)).unwrap();
    assert_eq!((result.leader, result.processes), (ArmId(0), 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_race_overruns_its_budget_by_one_request_at_most(
        budget_ns in 0u64..60_000_000_000,
        times in prop::collection::vec(1_000_000u64..2_000_000_000, 2..12),
        seed in any::<u64>(),
    ) {
        let mut lab = SimulatedLab::new(times.clone(), NoiseModel::nominal(), seed);
        let settings = RaceSettings { budget_ns, ..RaceSettings::new(TICK) };
        run(&mut lab, times.len(), &settings).unwrap();
        let slowest_ns = times.iter().max().unwrap() * 2;
        // The time to open a process, including its warm-up, is limited by the lab's own deadlines.
        let opening_ns = 300_000_000 + 3 * 2 * times.iter().sum::<u64>();
        prop_assert!(lab.now_ns() <= budget_ns + slowest_ns + opening_ns + REQUEST_NS);
    }
}
