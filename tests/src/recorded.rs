//! The recorded tuning spaces, and scores of searches on them.

use std::path::PathBuf;

use kiln_exchange::curves::SearchRun;
use kiln_exchange::recording::{self, Recording};
use kiln_search::Guide;
use kiln_tuner::replay::transfer::median;
use kiln_tuner::replay::{ReplayPlan, replay};
use rayon::prelude::*;

use crate::capability::recorded_data;

/// All recorded spaces, in the order of their file names.
///
/// # Panics
/// If there are no recorded spaces, or if one of them cannot be read.
pub fn recordings() -> Vec<Recording> {
    let folder = recorded_data()
        .expect("recorded data were found before")
        .join("spaces");
    let files = std::fs::read_dir(folder).expect("the folder of recordings should be readable");
    let mut paths: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".json.gz"));
    paths.sort();
    let read = |path: &PathBuf| recording::read(path).unwrap_or_else(|error| panic!("{error}"));
    paths.par_iter().map(read).collect()
}

/// Searches every recording with every seed from 1 to `seeds`.
pub fn searches(
    recordings: &[Recording],
    strategy: &str,
    budget: usize,
    batch: usize,
    seeds: u64,
) -> Vec<SearchRun> {
    let guide = Guide::default();
    let jobs: Vec<(&Recording, u64)> = recordings
        .iter()
        .flat_map(|recording| (1..=seeds).map(move |seed| (recording, seed)))
        .collect();
    let search = |&(recording, seed): &(&Recording, u64)| {
        let plan = ReplayPlan {
            strategy,
            budget,
            batch,
            seed,
            stop: false,
            guide: &guide,
        };
        replay(recording, &plan)
    };
    jobs.par_iter().map(search).collect()
}

/// For each recording, the median share of its runs after `evals` configs. The share of a run is the shortest time of
/// the recording divided by the shortest time that the run has found so far, or 0 if the run has found none.
pub fn shares(recordings: &[Recording], runs: &[SearchRun], evals: usize) -> Vec<f64> {
    let share = |recording: &Recording| {
        let best = recording.best_ms().unwrap_or_default();
        let own = runs.iter().filter(|run| run.space == recording.name);
        median(
            own.map(|run| run.best_after(evals).map_or(0.0, |found| best / found))
                .collect(),
        )
    };
    recordings.iter().map(share).collect()
}

/// The geometric mean of shares. Shares below 0.001 count as 0.001.
pub fn geometric_mean(shares: &[f64]) -> f64 {
    let logs: f64 = shares.iter().map(|share| share.max(1e-3).ln()).sum();
    (logs / shares.len().max(1) as f64).exp()
}
