use super::*;
use crate::confirm::drive;
use crate::fault::Fault;
use crate::noise::NoiseModel;
use crate::simulate::SimulatedLab;
use kiln_cache::Outcome;

const EARLIER: ArmId = ArmId(0);
const PRESENT: ArmId = ArmId(1);
const BASE_NS: u64 = 1_000_000;

fn settings(seed: u64, claims: u32) -> ComparisonSettings {
    ComparisonSettings::new(Resolution { tick_ns: 500 }, seed, claims, 0.05)
}

/// Runs a comparison of a kernel with one that takes `slowdown` times as long.
fn compared(lab: &mut SimulatedLab, slowdown: f64, settings: ComparisonSettings) -> SideComparison {
    let present_ns = (BASE_NS as f64 * slowdown) as u64;
    let expected = RaceEstimate {
        ratio: slowdown,
        defender_span_ns: BASE_NS,
        challenger_span_ns: present_ns,
    };
    let mut comparison = SideComparison::new(EARLIER, PRESENT, expected, settings);
    drive(lab, &mut comparison, &mut |_| {});
    comparison
}

fn lab(slowdown: f64, model: NoiseModel, seed: u64) -> SimulatedLab {
    SimulatedLab::new(
        vec![BASE_NS, (BASE_NS as f64 * slowdown) as u64],
        model,
        seed,
    )
}

/// The number of `runs` comparisons with each ruling: slower, faster, same, open.
fn counts(slowdown: f64, model: NoiseModel, claims: u32, runs: u64) -> [u64; 4] {
    let mut counts = [0; 4];
    for seed in 0..runs {
        let mut lab = lab(slowdown, model, seed);
        let place = match compared(&mut lab, slowdown, settings(seed, claims)).ruling() {
            Some(Ruling::Slower) => 0,
            Some(Ruling::Faster) => 1,
            Some(Ruling::Same) => 2,
            Some(Ruling::Open(_)) | None => 3,
        };
        counts[place] += 1;
    }
    counts
}

#[test]
fn without_noise_each_ruling_is_the_truth_and_its_ratio_is_exact() {
    for (slowdown, ruling, processes) in [
        (1.05, Ruling::Slower, 8),
        (1.02, Ruling::Slower, 8),
        (1.0, Ruling::Same, 6),
        (1.008, Ruling::Same, 6),
        (0.95, Ruling::Faster, 8),
        (0.8, Ruling::Faster, 6),
    ] {
        let mut lab = lab(slowdown, NoiseModel::QUIET, 1);
        let comparison = compared(&mut lab, slowdown, settings(1, 1));
        assert_eq!(comparison.ruling(), Some(&ruling), "{slowdown}");
        let ratio = comparison.evidence().median_ratio.unwrap();
        assert!((ratio - slowdown).abs() < 1e-6, "{slowdown}: {ratio}");
        assert_eq!(lab.processes(), processes, "{slowdown}");
    }
}

#[test]
fn equal_kernels_raise_no_alarm_under_any_noise() {
    for (name, model) in NoiseModel::all() {
        let [slower, faster, same, open] = counts(1.0, model, 1, 200);
        println!("{name}: slower {slower}, faster {faster}, same {same}, open {open} of 200");
        // The bound on the chance is 1 %. The exact chance is lower even for a fair coin, and delta lowers it further.
        assert!(slower <= 2 && faster <= 2, "{name}");
    }
}

#[test]
fn a_slow_down_of_five_percent_is_proven_also_as_one_of_forty() {
    for (claims, least) in [(1, 198), (40, 195)] {
        let [slower, faster, same, open] = counts(1.05, NoiseModel::nominal(), claims, 200);
        println!("5 % among {claims}: slower {slower}, same {same}, open {open} of 200");
        assert!(slower >= least && faster == 0, "{claims} claims");
    }
}

#[test]
fn what_is_called_the_same_is_not_slower_by_the_margin() {
    for (name, model) in NoiseModel::all() {
        let [_, _, same, _] = counts(1.05, model, 1, 100);
        assert!(
            same <= 5,
            "{name}: {same} of 100 slow-downs of 5 % are called the same"
        );
    }
}

#[test]
fn where_noise_hides_the_margin_the_ruling_stays_open() {
    let loud = NoiseModel::nominal().threefold().threefold();
    let [slower, faster, same, open] = counts(1.0, loud, 1, 100);
    assert!(
        open >= 50 && slower + faster <= 2,
        "{slower} {faster} {same} {open}"
    );
}

#[test]
fn the_second_process_of_a_pair_has_the_orders_of_the_first_reversed() {
    let mut lab = lab(1.0, NoiseModel::nominal(), 2);
    compared(&mut lab, 1.0, settings(2, 1));
    assert!(lab.openings().len() >= 6);
    for pair in lab.openings().chunks_exact(2) {
        let reversed: Vec<_> = pair[0].load.iter().rev().copied().collect();
        assert_eq!(pair[1].load, reversed);
    }
}

#[test]
fn a_fault_a_spent_budget_or_unsteady_clocks_leave_it_open() {
    let cause = Outcome::KernelFault {
        text: "illegal address".into(),
    };
    let mut faulty = lab(1.0, NoiseModel::QUIET, 1).with_fault(PRESENT, 9, cause.clone());
    let doubt = Doubt::Faulted(Fault::of(PRESENT, cause));
    let open = |doubt| Some(Ruling::Open(Some(doubt)));
    assert_eq!(
        compared(&mut faulty, 1.0, settings(1, 1)).ruling(),
        open(doubt).as_ref()
    );
    let mut short = settings(1, 1);
    short.confirm.budget_ns = 0;
    let mut quiet = lab(1.0, NoiseModel::QUIET, 1);
    let ruling = open(Doubt::BudgetSpent);
    assert_eq!(compared(&mut quiet, 1.0, short).ruling(), ruling.as_ref());
    let mut unsteady = lab(0.9, NoiseModel::QUIET, 1).with_clocks(vec![1_500_000, 1_530_000]);
    let ruling = open(Doubt::UnsteadyClocks);
    assert_eq!(
        compared(&mut unsteady, 0.9, settings(1, 1)).ruling(),
        ruling.as_ref()
    );
}
