//! The default strategy. A model of costs and a model of failures decide which config is tried next.
//!
//! The search starts with a few configs that are spread over the space. If there are results of earlier searches
//! ([`Prior`]s), it starts with their best configs instead. It then tries the config with the highest product of the
//! expected improvement of the cost and the probability that the config is valid.
//!
//! If there are earlier searches, every third choice at the beginning is instead the best untried config of the first
//! earlier search. This ends early if the earlier search does not explain the measured costs and its best configs are
//! not good.
//!
//! In a small space, every config is a candidate. In a large one, the candidates are the neighbours of the best configs
//! and a random sample.

mod learner;
mod pool;
mod recall;
mod representatives;
mod start;
mod trend;
mod warp;

use self::learner::{Learner, Lesson, SearchState};
use self::pool::CandidatePool;
use self::recall::Recall;
use self::trend::{Trend, variance_of_mean};
use super::guide::Guide;
use super::ledger::TrialLedger;
use super::model::{Belief, Encoder, Settings, below, log_promise, log_promise_bound};
use super::prior::Prior;
use super::space::SpaceView;
use super::strategy::{Strategy, Told};
use rand_chacha::ChaCha8Rng;

/// Number of random configs from which the variance of the trends over the space is estimated.
const TREND_SAMPLE: usize = 5_000;

/// Minimum number of valid results before the models are used.
const MIN_VALID: usize = 4;

/// Maximum number of results from which a model learns.
const MAX_LEARNED: usize = 300;

/// Maximum number of new results before the scales of the models are fitted again.
const MAX_NEW: usize = 64;

/// Minimum of the estimated probability that a config is valid, so that the model of failures can never exclude a
/// config completely.
const MIN_CHANCE: f64 = 0.01;

/// Minimum standard deviation of a predicted failure. A failure has the value 1, a valid config the value 0.
const MIN_DOUBT: f64 = 0.05;

/// Model-based search; see the module's documentation.
pub struct Auto<'a> {
    space: &'a dyn SpaceView,
    settings: Settings,
    encoder: Encoder,
    ledger: TrialLedger,
    rng: ChaCha8Rng,
    /// The configs to try before the models are used, in reverse order.
    first: Vec<usize>,
    pool: CandidatePool,
    costs: Learner,
    failures: Learner,
    fitted_at: usize,
    recall: Option<Recall>,
    outlook: Option<f64>,
    ends_early: bool,
}

impl<'a> Auto<'a> {
    /// Creates a search of `space`.
    pub fn new(space: &'a dyn SpaceView, mut rng: ChaCha8Rng, guide: &Guide) -> Self {
        let settings = guide.settings;
        let encoder = Encoder::new(space, &settings);
        let ledger = TrialLedger::new(space.len(), &mut rng);
        let priors: Vec<&Prior> = guide
            .priors
            .iter()
            .filter(|prior| prior.valid().any(|(index, _)| index < space.len()))
            .collect();
        let starters = if priors.is_empty() {
            settings.first
        } else {
            settings.recalled
        };
        let mut first = start::first(space, &encoder, &ledger, &priors, starters as usize);
        first.reverse();
        let sample = ledger.sample(TREND_SAMPLE);
        let learner = |trends: Vec<Trend>, noise: f64| {
            let variance = variance_of_mean(&trends, &sample, space, &encoder);
            Learner::new(&encoder, trends, variance, noise, &settings)
        };
        let of = |of: fn(&Prior, &dyn SpaceView, &Encoder, &Settings) -> Trend| -> Vec<Trend> {
            let one = |prior: &&Prior| of(prior, space, &encoder, &settings);
            priors.iter().map(one).collect()
        };
        let costs = learner(of(Trend::of_costs), settings.noise);
        let failures = learner(of(Trend::of_failures), settings.failure_noise);
        Self {
            pool: CandidatePool::new(space.len(), &settings),
            space,
            settings,
            encoder,
            ledger,
            rng,
            first,
            costs,
            failures,
            fitted_at: 0,
            recall: Recall::new(&priors, settings.recall_every as usize),
            outlook: None,
            ends_early: true,
        }
    }

    /// Creates a search that tries all configs of `space`. It returns no estimate of the remaining improvement, so it
    /// is never stopped early.
    pub fn exhausting(space: &'a dyn SpaceView, rng: ChaCha8Rng, guide: &Guide) -> Self {
        Self {
            ends_early: false,
            ..Self::new(space, rng, guide)
        }
    }

    /// Marks the earlier search as doubtful. Returns true only if there is an earlier search and it was not doubtful
    /// before.
    fn doubts(&mut self) -> bool {
        self.recall.as_mut().is_some_and(Recall::doubt)
    }

    /// Replaces the configs to try next by `n` configs that are spread over the space. This is needed if only the best
    /// configs of an earlier search were tried so far, because these configs are not a sample of the space.
    fn spread(&mut self, n: usize) {
        self.first = start::first(self.space, &self.encoder, &self.ledger, &[], n);
        if let Some(recall) = &mut self.recall {
            recall.compare_with(&self.first);
        }
        self.first.reverse();
    }

    /// Adds a few configs that are spread over the space after the best ones of an earlier search, to check whether the
    /// results of that search apply.
    fn contrast(&mut self) {
        let (recalled, few) = (
            self.settings.recalled as usize + 2,
            self.settings.contrast as usize,
        );
        let due = self.recall.as_ref().is_some_and(Recall::is_alone)
            && self.ledger.results().len() >= recalled;
        if due {
            self.spread(few);
        }
    }

    /// Returns at most `n` of the configs to try before the models are used.
    fn starters(&mut self, n: usize) -> Vec<usize> {
        let mut starters = Vec::new();
        while starters.len() < n {
            let Some(index) = self.first.pop() else {
                break;
            };
            if self.ledger.ask(index) {
                starters.push(index);
            }
        }
        starters
    }

    /// Updates both models with the results: the model of costs and the model of failures.
    fn learn(&mut self, ranking: &[(usize, f64)]) -> (Lesson, Lesson) {
        let total = self.ledger.results().len();
        let due =
            (self.fitted_at as f64 * self.settings.growth).min((self.fitted_at + MAX_NEW) as f64);
        let fit = self.fitted_at == 0 || total as f64 >= due;
        if fit {
            self.fitted_at = total;
            self.costs.forget();
            self.failures.forget();
            self.pool
                .renew(self.space, &self.ledger, ranking, &mut self.rng);
        } else {
            self.pool.follow(self.space, &self.ledger, ranking);
        }
        let latest = total.saturating_sub(MAX_LEARNED);
        let costs = warp::costs(ranking, self.settings.clip);
        let costs: Vec<(usize, f64)> = costs
            .into_iter()
            .enumerate()
            .filter(|(rank, (slot, _))| *rank < MAX_LEARNED / 2 || *slot >= latest)
            .map(|(_, cost)| cost)
            .collect();
        let failed =
            |(slot, told): (usize, &Told)| (slot, f64::from(u8::from(told.cost.is_none())));
        let failures: Vec<(usize, f64)> = self
            .ledger
            .results()
            .iter()
            .enumerate()
            .map(failed)
            .skip(latest)
            .collect();
        let state = state(
            self.space,
            &self.encoder,
            &self.ledger,
            &self.pool,
            &self.settings,
            fit,
        );
        (
            self.costs.learn(&costs, &state),
            self.failures.learn(&failures, &state),
        )
    }

    /// Chooses up to `n` configs, one by one: in some turns the best untried config of the earlier search, and
    /// otherwise the most promising candidate. Each chosen config reduces the variance of similar candidates.
    fn choose(&mut self, n: usize, best: f64, costs: &Lesson, failures: &Lesson) -> Vec<usize> {
        let known = self.costs.len();
        let mut best = costs.unit(best);
        let mut chosen = Vec::new();
        while chosen.len() < n {
            if let Some(index) = self
                .recall
                .as_mut()
                .and_then(|recall| recall.turn(&self.ledger))
            {
                self.ledger.ask(index);
                chosen.push(index);
                self.suppose(index);
                continue;
            }
            let Some((promise, place)) = self.most_promising(best, costs, failures) else {
                break;
            };
            if chosen.is_empty() {
                self.outlook = Some(promise.exp() * costs.scale());
            }
            let index = self.pool.indices()[place];
            self.ledger.ask(index);
            chosen.push(index);
            if chosen.len() < n {
                best = best.min(costs.mean(place));
                self.suppose(index);
            }
        }
        self.costs.truncate(known);
        chosen
    }

    /// Assumes that a chosen candidate has its predicted cost. This reduces the expected improvement of similar
    /// candidates.
    fn suppose(&mut self, index: usize) {
        let state = state(
            self.space,
            &self.encoder,
            &self.ledger,
            &self.pool,
            &self.settings,
            false,
        );
        self.costs.suppose(index, &state);
    }

    fn most_promising(&self, best: f64, costs: &Lesson, failures: &Lesson) -> Option<(f64, usize)> {
        let variances = self.costs.variances();
        let widest = variances.iter().copied().fold(0.0, f32::max);
        let log_widest = (f64::from(widest).sqrt() * costs.spread()).max(1e-12).ln();
        let mut top: Option<(f64, usize)> = None;
        for (place, &variance) in variances.iter().enumerate() {
            let belief = Belief {
                mean: costs.mean(place),
                sd: (f64::from(variance.max(1e-9)).sqrt() * costs.spread()).max(1e-12),
            };
            let least = top.map_or(f64::NEG_INFINITY, |top| top.0);
            if log_promise_bound(belief, best, log_widest) < least
                || self.ledger.was_asked(self.pool.indices()[place])
            {
                continue;
            }
            let promise = log_promise(belief, best) + self.log_chance(place, failures);
            if promise > least {
                top = Some((promise, place));
            }
        }
        top
    }

    /// The logarithm of the probability that a candidate is valid.
    fn log_chance(&self, place: usize, failures: &Lesson) -> f64 {
        if failures.is_flat() {
            return 0.0;
        }
        let doubt = f64::from(self.failures.variances()[place].max(0.0)).sqrt()
            * failures.scale()
            * failures.spread();
        let z = (0.5 - failures.value(place)) / doubt.max(MIN_DOUBT);
        below(z).max(MIN_CHANCE).ln()
    }
}

fn state<'a>(
    space: &'a dyn SpaceView,
    encoder: &'a Encoder,
    ledger: &'a TrialLedger,
    pool: &'a CandidatePool,
    settings: &'a Settings,
    fit: bool,
) -> SearchState<'a> {
    SearchState {
        space,
        encoder,
        results: ledger.results(),
        pool: pool.indices(),
        settings,
        fit,
    }
}

impl Strategy for Auto<'_> {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn ask(&mut self, n: usize) -> Vec<usize> {
        if self.ledger.is_exhausted() {
            return Vec::new();
        }
        self.contrast();
        let mut asked = self.starters(n);
        let ranking = self.ledger.ranking();
        if asked.len() < n && ranking.len() >= MIN_VALID {
            let (costs, failures) = self.learn(&ranking);
            if self.costs.doubts() && self.doubts() {
                if (self.ledger.results().len() as f64) < 4.0 * self.settings.first {
                    self.spread(self.settings.first as usize);
                }
                asked.extend(self.starters(n - asked.len()));
            }
            let rest = n - asked.len();
            asked.extend(self.choose(rest, ranking[0].1, &costs, &failures));
        }
        let rest = n - asked.len();
        asked.extend(self.ledger.strays(rest));
        asked
    }

    fn tell(&mut self, told: &[Told]) {
        if self.ledger.tell(told) {
            self.costs.forget();
            self.failures.forget();
        }
    }

    fn outlook(&self) -> Option<f64> {
        self.outlook.filter(|_| self.ends_early)
    }
}
