//! Searches every ordered pair of recordings of a kernel, from each starting point in [`Start`].

use rayon::prelude::*;

use super::transfer::{self, MARKS, PairRuns, Start, Trials};
use crate::progress::Counter;
use kiln_exchange::recording::Recording;

/// Searches every pair in parallel.
pub fn runs(recordings: &[Recording], trials: &Trials) -> Vec<PairRuns> {
    let pairs = transfer::pairs(recordings);
    let mut jobs = Vec::new();
    for &(source, target) in &pairs {
        jobs.extend(Start::ALL.map(|start| (source, target, start)));
    }
    let counter = Counter::new("searches of a pair", jobs.len() as u64);
    let search = |&(source, target, start): &(&Recording, &Recording, Start)| {
        let runs = transfer::search(source, target, start, trials);
        counter.step();
        runs
    };
    let found = jobs.par_iter().map(search).collect();
    counter.finish();
    found
}

/// Formats a table with one line per pair and start, followed by the geometric means over the pairs.
pub fn table(found: &[PairRuns]) -> String {
    let heads: Vec<String> = MARKS.iter().map(|mark| format!("frac@{mark}")).collect();
    let mut text = format!("{:<58} {:<16}", "source -> target", "start");
    for head in &heads {
        text += &format!(" {head:>9}");
    }
    let row = |shares: &[f64]| {
        shares
            .iter()
            .map(|share| format!(" {share:>9.3}"))
            .collect::<String>()
            + "\n"
    };
    text += "\n";
    for pair in found {
        let name = format!("{} -> {}", pair.source, pair.target);
        let shares: Vec<f64> = pair.shares.iter().map(|share| share.1).collect();
        text += &format!("{name:<58} {:<16}{}", pair.start.name(), row(&shares));
    }
    for start in Start::ALL {
        let own: Vec<&PairRuns> = found.iter().filter(|pair| pair.start == start).collect();
        let mean = |place: usize| {
            let logs = own.iter().map(|pair| pair.shares[place].1.max(1e-3).ln());
            (logs.sum::<f64>() / own.len().max(1) as f64).exp()
        };
        let means: Vec<f64> = (0..MARKS.len()).map(mean).collect();
        text += &format!(
            "{:<58} {:<16}{}",
            "geometric mean",
            start.name(),
            row(&means)
        );
    }
    text
}
