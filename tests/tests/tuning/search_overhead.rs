//! The overhead of the default search, and the loss that is caused by requesting configs in batches.

use std::time::Instant;

use kiln_search::{SpaceView, Told, by_name};
use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::recorded::{geometric_mean, recordings, searches, shares};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A grid of 2,097,152 configs: seven parameters with eight values each.
struct Grid;

impl SpaceView for Grid {
    fn len(&self) -> usize {
        1 << 21
    }

    fn value_counts(&self) -> &[u32] {
        &[8; 7]
    }

    fn is_ordinal(&self, _: usize) -> bool {
        true
    }

    fn value(&self, _: usize, position: u32) -> f64 {
        f64::from(1 << position)
    }

    fn positions(&self, index: usize) -> Vec<u32> {
        (0..7)
            .map(|param| (index >> (3 * param)) as u32 & 7)
            .collect()
    }

    fn index_of(&self, positions: &[u32]) -> Option<usize> {
        let digits = positions.iter().rev();
        Some(digits.fold(0, |index, &position| index << 3 | position as usize))
    }
}

#[test]
fn a_proposal_in_a_space_of_two_million_configs_takes_a_millisecond_at_most() {
    let mut strategy = by_name("auto", &Grid, 200, ChaCha8Rng::seed_from_u64(1)).unwrap();
    let cost = |index: usize| {
        let off = |(param, position): (usize, u32)| {
            (f64::from(position) - 2.5 - param as f64 / 3.0).powi(2)
        };
        1.0 + (0..).zip(Grid.positions(index)).map(off).sum::<f64>()
    };
    let started = Instant::now();
    let mut best = f64::INFINITY;
    for _ in 0..200 {
        for index in strategy.ask(1) {
            best = best.min(cost(index));
            strategy.tell(&[Told {
                index,
                cost: Some(cost(index)),
            }]);
        }
    }
    let each = started.elapsed().as_secs_f64() * 1e3 / 200.0;
    println!("{each:.2} ms a proposal over 200, best {best:.2}");
    assert!(!in_full() || each <= 1.0, "{each}");
    assert!(best < 4.0, "{best}");
}

#[test]
fn asking_for_four_at_a_time_loses_little() {
    if !have("batches on recorded spaces", &[Need::RecordedData]) {
        return;
    }
    let recordings = recordings();
    let (seeds, budget, most) = if in_full() {
        (50, 100, 0.01)
    } else {
        (2, 48, 0.1)
    };
    let mean = |batch: usize| {
        let runs = searches(&recordings, "auto", budget, batch, seeds);
        geometric_mean(&shares(&recordings, &runs, budget))
    };
    let (one, four) = (mean(1), mean(4));
    println!("after {budget}: one at a time {one:.3}, four at a time {four:.3}");
    assert!(four >= one - most, "{four} {one}");
}

#[test]
fn fifty_searches_of_a_recorded_gemm_take_a_minute_at_most() {
    if !in_full() || !have("gemm replayed", &[Need::RecordedData]) {
        return;
    }
    let gemm: Vec<_> = recordings()
        .into_iter()
        .filter(|recording| recording.kernel() == "gemm")
        .collect();
    let started = Instant::now();
    let runs = searches(&gemm, "auto", 200, 1, 50);
    let seconds = started.elapsed().as_secs_f64();
    println!("{} searches of 200 configs in {seconds:.1} s", runs.len());
    assert!(seconds <= 60.0 * gemm.len() as f64, "{seconds}");
}
