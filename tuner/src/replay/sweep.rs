//! Runs many searches on recorded spaces: one per space, strategy and seed.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use super::error::ReplayError;
use super::run::{ReplayPlan, replay};
use super::transfer::{self, median};
use crate::progress::Counter;
use kiln_exchange::curves::SearchRun;
use kiln_exchange::recording::Recording;
use kiln_search::{Guide, Prior, Settings};

/// The strategies, seeds and settings of a sweep.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The names of the strategies.
    pub strategies: Vec<String>,
    /// The seeds; there is one search per seed.
    pub seeds: RangeInclusive<u64>,
    /// Number of configs per search.
    pub budget: usize,
    /// Number of configs per batch.
    pub batch: usize,
    /// Whether a search stops when further improvement is unlikely.
    pub stop: bool,
    /// Settings of the search model.
    pub settings: Settings,
}

impl Sweep {
    /// Returns the guide for each space. A guide contains the results in `sources` of the same kernel on other devices.
    /// With `trials`, it contains only the results that a search of each source with that many trials would find.
    ///
    /// # Errors
    /// If a source is not a recording of a searched kernel on another device.
    pub fn guides(
        &self,
        recordings: &[Recording],
        sources: Vec<Recording>,
        trials: Option<usize>,
    ) -> Result<Vec<Guide>, ReplayError> {
        let sources: Vec<Recording> = match trials {
            Some(most) => sources
                .par_iter()
                .map(|source| transfer::searched(source, most, *self.seeds.start(), self.settings))
                .collect(),
            None => sources,
        };
        for source in &sources {
            if !recordings.iter().any(|one| is_source(one, source)) {
                return Err(ReplayError::ForeignSource {
                    name: source.name.clone(),
                });
            }
        }
        let guide = |one: &Recording| Guide {
            priors: priors(one, &sources),
            settings: self.settings,
        };
        Ok(recordings.iter().map(guide).collect())
    }

    /// Searches every space with its guide, in parallel.
    pub fn runs(&self, recordings: &[Recording], guides: &[Guide]) -> Vec<SearchRun> {
        let mut jobs = Vec::new();
        for (recording, guide) in recordings.iter().zip(guides) {
            for strategy in &self.strategies {
                let plan = |seed| ReplayPlan {
                    strategy,
                    budget: self.budget,
                    batch: self.batch,
                    seed,
                    stop: self.stop,
                    guide,
                };
                jobs.extend(self.seeds.clone().map(|seed| (recording, plan(seed))));
            }
        }
        let counter = Counter::new("searches", jobs.len() as u64);
        let search = |(recording, plan): &(&Recording, ReplayPlan<'_>)| {
            let run = replay(recording, plan);
            counter.step();
            run
        };
        let runs = jobs.par_iter().map(search).collect();
        counter.finish();
        runs
    }
}

/// Whether `source` is a recording of the same kernel on another device.
fn is_source(target: &Recording, source: &Recording) -> bool {
    source.kernel() == target.kernel() && source.name != target.name
}

/// The results of the same kernel on other devices, as priors for the search of `target`.
fn priors(target: &Recording, sources: &[Recording]) -> Vec<Prior> {
    let others = sources.iter().filter(|source| is_source(target, source));
    others
        .map(|source| transfer::prior(source, target))
        .collect()
}

/// Formats a table with one line per strategy. A cell is the share of the optimum after a number of configs: the median
/// over the seeds, then the geometric mean over the spaces.
pub fn summary(
    strategies: &[String],
    recordings: &[Recording],
    runs: &[SearchRun],
    seconds: f64,
) -> String {
    let marks = [10, 25, 50, 100, 200];
    let mut text = format!("{:<16}", "strategy");
    for mark in marks {
        text += &format!("  frac@{mark:<4}");
    }
    text += "  ms per config\n";
    for strategy in strategies {
        let own: Vec<&SearchRun> = runs
            .iter()
            .filter(|run| &run.strategy == strategy)
            .collect();
        text += &format!("{strategy:<16}");
        for mark in marks {
            text += &format!("  {:<9.3}", share(recordings, &own, mark));
        }
        let (wall, evals) = own
            .iter()
            .fold((0.0, 0), |sum, run| (sum.0 + run.wall_s, sum.1 + run.evals));
        text += &format!("  {:.3}\n", 1e3 * wall / evals.max(1) as f64);
    }
    text + &format!(
        "{} spaces, {} searches in {seconds:.1} s\n",
        recordings.len(),
        runs.len()
    )
}

fn share(recordings: &[Recording], runs: &[&SearchRun], evals: usize) -> f64 {
    let logs = recordings.iter().map(|recording| {
        let best = recording.best_ms().unwrap_or_default();
        let of = |run: &&&SearchRun| run.space == recording.name;
        let shares = runs
            .iter()
            .filter(of)
            .map(|run| run.best_after(evals).map_or(0.0, |found| best / found));
        median(shares.collect()).max(1e-3).ln()
    });
    (logs.sum::<f64>() / recordings.len().max(1) as f64).exp()
}
