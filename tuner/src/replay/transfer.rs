//! Searches that start from the recording of another device. The target is the recorded space that is searched; the
//! source is a recording of the same kernel on another device.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::run::{ReplayPlan, replay, tried};
use kiln_exchange::curves::SearchRun;
use kiln_exchange::recording::Recording;
use kiln_search::{Guide, Prior, Settings};

/// The starting point of the search of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// No earlier results.
    Plain,
    /// The source's results.
    Transfer,
    /// No search: the source's best configs are tried in order.
    InOrder,
    /// The source's results, but assigned to the wrong configs.
    Shuffled,
}

impl Start {
    /// All variants.
    pub const ALL: [Start; 4] = [
        Start::Plain,
        Start::Transfer,
        Start::InOrder,
        Start::Shuffled,
    ];

    /// The name of the variant in tables and curves.
    pub fn name(self) -> &'static str {
        match self {
            Start::Plain => "auto",
            Start::Transfer => "auto-transfer",
            Start::InOrder => "source-in-order",
            Start::Shuffled => "auto-misled",
        }
    }
}

/// The settings that apply to every pair.
#[derive(Clone, Debug)]
pub struct Trials {
    /// Number of configs to try per search.
    pub budget: usize,
    /// Number of configs per batch.
    pub batch: usize,
    /// The seeds; there is one search per seed.
    pub seeds: std::ops::RangeInclusive<u64>,
    /// Settings of the search model.
    pub settings: Settings,
    /// If set, a search starts only from the configs that a search of the source with this many trials would try.
    /// Otherwise it starts from the whole source.
    pub source_trials: Option<usize>,
}

/// The searches of one pair with one start.
#[derive(Clone, Debug)]
pub struct PairRuns {
    /// The name of the source. The runs of [`Start::Plain`] do not depend on the source.
    pub source: String,
    /// The name of the target.
    pub target: String,
    /// The starting point of the searches.
    pub start: Start,
    /// The share of the target's optimum after each number of configs, as the median over the seeds.
    pub shares: Vec<(usize, f64)>,
    /// The curve of each search.
    pub runs: Vec<SearchRun>,
}

/// Numbers of configs at which shares are reported.
pub const MARKS: [usize; 5] = [10, 25, 50, 100, 200];

/// All ordered pairs of different recordings of the same kernel, as source and target.
pub fn pairs(recordings: &[Recording]) -> Vec<(&Recording, &Recording)> {
    let all = recordings
        .iter()
        .flat_map(|source| recordings.iter().map(move |target| (source, target)));
    all.filter(|(source, target)| source.name != target.name && source.kernel() == target.kernel())
        .collect()
}

/// Searches the target of a pair from one start, once per seed.
pub fn search(source: &Recording, target: &Recording, start: Start, trials: &Trials) -> PairRuns {
    let whole = prior(source, target);
    let seeds: Vec<u64> = trials.seeds.clone().collect();
    let one = |&seed: &u64| match start {
        Start::InOrder => in_order(&whole, target, trials.budget, seed),
        Start::Plain => guided(&whole, target, start, trials, seed),
        _ => {
            let known = trials
                .source_trials
                .map(|most| prior(&searched(source, most, seed, trials.settings), target));
            guided(
                known.as_ref().unwrap_or(&whole),
                target,
                start,
                trials,
                seed,
            )
        }
    };
    // This start uses no random numbers, so one run is enough.
    let seeds = if start == Start::InOrder {
        &seeds[..1]
    } else {
        &seeds[..]
    };
    let runs: Vec<SearchRun> = seeds.par_iter().map(one).collect();
    let best = target.best_ms().unwrap_or_default();
    let share = |mark: usize| {
        let shares = runs
            .iter()
            .map(|run| run.best_after(mark).map_or(0.0, |found| best / found));
        (mark, median(shares.collect()))
    };
    PairRuns {
        source: source.name.clone(),
        target: target.name.clone(),
        start,
        shares: MARKS.map(share).to_vec(),
        runs,
    }
}

/// The part of a recording that a search without earlier results tries.
pub fn searched(source: &Recording, trials: usize, seed: u64, settings: Settings) -> Recording {
    let plan = ReplayPlan {
        strategy: "auto",
        budget: trials,
        batch: 1,
        seed,
        stop: false,
        guide: &Guide {
            settings,
            ..Guide::default()
        },
    };
    tried(source, &plan)
}

/// The results of a recording as a prior for the space of another recording.
pub fn prior(source: &Recording, target: &Recording) -> Prior {
    let times = source.times_in(&target.space).into_iter().enumerate();
    Prior {
        costs: times
            .filter_map(|(index, time)| Some((index, time?)))
            .collect(),
    }
}

fn guided(
    prior: &Prior,
    target: &Recording,
    start: Start,
    trials: &Trials,
    seed: u64,
) -> SearchRun {
    let priors = match start {
        Start::Plain | Start::InOrder => Vec::new(),
        Start::Transfer => vec![prior.clone()],
        Start::Shuffled => vec![shuffled(prior, seed)],
    };
    let guide = Guide {
        priors,
        settings: trials.settings,
    };
    let plan = ReplayPlan {
        strategy: "auto",
        budget: trials.budget,
        batch: trials.batch,
        seed,
        stop: false,
        guide: &guide,
    };
    let mut run = replay(target, &plan);
    start.name().clone_into(&mut run.strategy);
    run
}

fn shuffled(prior: &Prior, seed: u64) -> Prior {
    let mut costs: Vec<Option<f64>> = prior.costs.values().copied().collect();
    costs.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    Prior {
        costs: prior.costs.keys().copied().zip(costs).collect(),
    }
}

/// Tries the source's configs in order, fastest first.
fn in_order(prior: &Prior, target: &Recording, budget: usize, seed: u64) -> SearchRun {
    let mut run = SearchRun::new(&target.name, Start::InOrder.name(), seed);
    for index in prior.ranked().into_iter().take(budget) {
        run.count(target.entries[index]);
    }
    run
}

/// The median; 0 if there are no values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        len => f64::midpoint(values[(len - 1) / 2], values[len / 2]),
    }
}
