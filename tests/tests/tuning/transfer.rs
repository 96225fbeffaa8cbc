//! Searches that start from the recording of another device, for every ordered pair of recordings of the same kernel.

use kiln_exchange::recording::Recording;
use kiln_search::Settings;
use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::recorded::{geometric_mean, recordings};
use kiln_tuner::replay::transfer::{MARKS, PairRuns, Start, Trials, pairs, search};
use rayon::prelude::*;

fn mean(runs: &[PairRuns], evals: usize) -> f64 {
    let place = MARKS
        .iter()
        .position(|&mark| mark == evals)
        .expect("the marks should hold it");
    let shares: Vec<f64> = runs.iter().map(|pair| pair.shares[place].1).collect();
    geometric_mean(&shares)
}

#[test]
fn another_devices_results_shorten_the_search_and_wrong_ones_do_not_spoil_it() {
    if !have("transfer between recordings", &[Need::RecordedData]) {
        return;
    }
    let recordings = recordings();
    let mut pairs: Vec<(&Recording, &Recording)> = pairs(&recordings);
    let (budget, seeds) = if in_full() {
        (100, 1..=10)
    } else {
        (50, 1..=1)
    };
    if !in_full() {
        pairs = pairs.into_iter().step_by(3).collect();
    }
    let trials = Trials {
        budget,
        batch: 1,
        seeds,
        settings: Settings::default(),
        source_trials: None,
    };
    let all = |start: Start| -> Vec<PairRuns> {
        pairs
            .par_iter()
            .map(|(source, target)| search(source, target, start, &trials))
            .collect()
    };
    let (transfer, plain, in_order) =
        (all(Start::Transfer), all(Start::Plain), all(Start::InOrder));
    for evals in [10, 50] {
        println!(
            "after {evals}: transfer {:.3}, from nothing {:.3}, the source's best in order {:.3}",
            mean(&transfer, evals),
            mean(&plain, evals),
            mean(&in_order, evals)
        );
    }
    assert!(mean(&transfer, 10) >= mean(&plain, 10) + 0.05);
    assert!(mean(&transfer, 10) >= if in_full() { 0.92 } else { 0.85 });
    assert!(mean(&transfer, 50) >= if in_full() { 0.98 } else { 0.93 });
    if in_full() {
        let misled = all(Start::Shuffled);
        let (misled, plain) = (mean(&misled, 100), mean(&plain, 100));
        println!("after 100: misled {misled:.3}, from nothing {plain:.3}");
        assert!(misled >= plain - 0.01, "{misled} {plain}");
    }
}
