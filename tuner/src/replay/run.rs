//! Runs one search on one recorded space.

use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use kiln_exchange::curves::SearchRun;
use kiln_exchange::recording::Recording;
use kiln_search::{Guide, SpaceView, Stop, Strategy, Told};

/// The settings of a search on a recording.
#[derive(Clone, Copy, Debug)]
pub struct ReplayPlan<'a> {
    /// The strategy's name.
    pub strategy: &'a str,
    /// Number of configs to try, including failed ones.
    pub budget: usize,
    /// Number of configs that are tried per batch.
    pub batch: usize,
    /// The seed of all random choices.
    pub seed: u64,
    /// Whether to stop when a further improvement is unlikely.
    pub stop: bool,
    /// The earlier results and the model settings with which the search starts.
    pub guide: &'a Guide,
}

/// Searches a recording. Returns the curve of the search: the best time found after each number of tried configs.
pub fn replay(recording: &Recording, plan: &ReplayPlan<'_>) -> SearchRun {
    search(recording, plan).0
}

/// The part of a recording that a search with this plan tries.
pub fn tried(recording: &Recording, plan: &ReplayPlan<'_>) -> Recording {
    let (_, seen) = search(recording, plan);
    recording.restricted(|index| seen[index])
}

/// Searches a recording. Returns the curve, and for each config whether it was tried.
fn search(recording: &Recording, plan: &ReplayPlan<'_>) -> (SearchRun, Vec<bool>) {
    let space = &recording.space;
    let mut run = SearchRun::new(&recording.name, plan.strategy, plan.seed);
    let started = Instant::now();
    let rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let strategy = kiln_search::with_guide(plan.strategy, space, plan.budget, rng, plan.guide);
    let mut strategy = match strategy {
        Ok(strategy) => strategy,
        Err(error) => {
            run.status = format!("error: {error}");
            return (run, vec![false; space.len()]);
        }
    };
    let mut searching = started.elapsed();
    let mut stop = Stop::default();
    let mut seen = vec![false; space.len()];
    while run.evals < plan.budget {
        let before = Instant::now();
        let asked = strategy.ask(plan.batch.max(1).min(plan.budget - run.evals));
        searching += before.elapsed();
        if asked.is_empty() || (plan.stop && stop.after(strategy.outlook(), asked.len())) {
            break;
        }
        let told: Vec<Told> = asked
            .into_iter()
            .map(|index| look_up(recording, index, &mut seen, &mut run))
            .collect();
        searching += tell(strategy.as_mut(), &told);
    }
    run.wall_s = searching.as_secs_f64();
    (run, seen)
}

fn tell(strategy: &mut dyn Strategy, told: &[Told]) -> Duration {
    let before = Instant::now();
    strategy.tell(told);
    before.elapsed()
}

/// Looks up a config in the recording. The first look-up of a config counts as a trial.
fn look_up(recording: &Recording, index: usize, seen: &mut [bool], run: &mut SearchRun) -> Told {
    let entry = recording.entries[index];
    if !std::mem::replace(&mut seen[index], true) {
        run.count(entry);
        run.tried.push(index);
    }
    Told {
        index,
        cost: entry.time_ms,
    }
}
