//! Scores of search strategies on recorded GPU spaces: the geometric mean over spaces of the median share of the
//! optimum.
//!
//! By default, the tests run few seeds, and their thresholds are chosen for this number. With `KILN_BARS=1`, they run
//! the 50 seeds of the acceptance criterion.

use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::recorded::{geometric_mean, recordings, searches, shares};

#[test]
fn auto_finds_the_best_of_recorded_spaces_in_few_trials() {
    if !have("auto on recorded spaces", &[Need::RecordedData]) {
        return;
    }
    let recordings = recordings();
    let (seeds, budget, bars): (u64, usize, &[(usize, f64)]) = if in_full() {
        (
            50,
            200,
            &[(25, 0.88), (50, 0.93), (100, 0.965), (200, 0.995)],
        )
    } else {
        (3, 50, &[(25, 0.84), (50, 0.91)])
    };
    let runs = searches(&recordings, "auto", budget, 1, seeds);
    for &(evals, bar) in bars {
        let shares = shares(&recordings, &runs, evals);
        let mean = geometric_mean(&shares);
        println!("auto after {evals}: {mean:.3} of the optimum, asked are {bar}");
        assert!(mean >= bar, "{evals}: {mean} < {bar}");
    }
    if in_full() {
        let last = shares(&recordings, &runs, budget);
        let worst = last.into_iter().fold(1.0, f64::min);
        println!("the worst space after {budget}: {worst:.3}, asked are 0.90");
        assert!(worst >= 0.90, "{worst}");
    }
}

#[test]
fn no_strategy_is_far_below_random_sampling() {
    if !have("strategies on recorded spaces", &[Need::RecordedData]) {
        return;
    }
    let recordings = recordings();
    let seeds = if in_full() { 50 } else { 10 };
    let mean = |strategy: &str| {
        let runs = searches(&recordings, strategy, 25, 1, seeds);
        geometric_mean(&shares(&recordings, &runs, 25))
    };
    let random = mean("random");
    for strategy in [
        "latin-hypercube",
        "genetic",
        "differential-evolution",
        "particle-swarm",
    ] {
        let found = mean(strategy);
        println!("{strategy} after 25: {found:.3}, random {random:.3}");
        assert!(found >= random - 0.1, "{strategy}: {found} {random}");
    }
}
