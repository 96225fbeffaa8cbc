//! Permutation importance, computed with the model of the model-based search.
//!
//! The model is a Gaussian process. It is fitted to the logarithms of the costs of four fifths of the valid trials,
//! and predicts the other fifth. The values of one parameter are then shuffled among the predicted trials, which
//! increases the error of the predictions. The importance of the parameter is half the increase of the mean squared
//! error, divided by the variance of the costs.
//!
//! The measure is from L. Breiman, "Random forests", Machine Learning 45 (2001). A. Fisher, C. Rudin and F. Dominici,
//! "All models are wrong, but many are useful", JMLR 20 (2019), apply it to any model. For independent parameters and a
//! good model, it estimates the total Sobol index. This is the share of the variance to which a parameter contributes,
//! alone or together with others, so importances may add up to more than 1 (B. Gregorutti, B. Michel and P.
//! Saint-Pierre, "Correlation and variable importance in random forests", Statistics and Computing 27 (2017)).
//!
//! The alternative is functional ANOVA (F. Hutter, H. Hoos and K. Leyton-Brown, ICML 2014). It averages the model over
//! the product of all values. Constraints exclude most of this product, so there are no trials there that support the
//! model. Permuting uses only values that were tried.
//!
//! The trials of a search concentrate on good times, and constraints make parameters depend on each other. Both can
//! distort an importance. Therefore the report also shows the share of the variance that the model explains, for
//! trials that it was not fitted to.

use kiln_search::{Regression, SpaceView};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::params::Params;

/// Number of parts into which the trials are divided. Each part is predicted from all the others.
const FOLDS: usize = 5;

/// Number of shuffles of each parameter's values.
const SHUFFLES: usize = 12;

/// Minimum variance of the log costs. It corresponds to a standard deviation of a thousandth of the time; smaller
/// differences are not attributed to parameters.
const MIN_VARIANCE: f64 = 1e-6;

/// The importances, and how good the model is.
#[derive(Clone, Debug)]
pub(super) struct Permuted {
    /// Share of the variance that the model explains, for trials that it was not fitted to.
    pub(super) explained: f64,
    /// The importance of each varied parameter, and its standard deviation over shuffles.
    pub(super) shares: Vec<(f64, f64)>,
}

/// Fits the models and computes the importances. `costs` are logarithms, one for each row of `params`. Equal trials
/// give equal results.
pub(super) fn permute(params: &Params, costs: &[f64]) -> Permuted {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.shuffle(&mut rng);
    let mut error = 0.0;
    let mut rises = vec![[0.0; SHUFFLES]; params.varied.len()];
    for fold in 0..FOLDS {
        let (held, seen): (Vec<_>, Vec<_>) = (0..order.len()).partition(|n| n % FOLDS == fold);
        let [held, seen] =
            [held, seen].map(|places| places.iter().map(|&n| order[n]).collect::<Vec<_>>());
        let fold = TrialFold {
            model: fitted(params, costs, &seen),
            params,
            costs,
            plain: Vec::new(),
            rows: held,
        };
        let fold = fold.predicted();
        error += fold.plain.iter().sum::<f64>();
        for (param, rises) in rises.iter_mut().enumerate() {
            for rise in rises {
                *rise += fold.rise(param, &mut rng);
            }
        }
    }
    Permuted::new(error, &rises, costs)
}

/// One part of the trials, with the model that is fitted to all other parts.
struct TrialFold<'p> {
    model: Regression,
    params: &'p Params,
    costs: &'p [f64],
    rows: Vec<usize>,
    /// The squared errors of the model for `rows`, without shuffling.
    plain: Vec<f64>,
}

impl TrialFold<'_> {
    fn predicted(mut self) -> Self {
        let rows = self.rows.iter();
        self.plain = rows
            .map(|&row| self.squared_error(row, &self.params.rows[row]))
            .collect();
        self
    }

    /// The squared difference between the cost of trial `row` and the cost that the model predicts for `values`.
    fn squared_error(&self, row: usize, values: &[usize]) -> f64 {
        (self.model.expected(&positions(values)) - self.costs[row]).powi(2)
    }

    /// The sum, over the trials of this fold, of the increase of the squared error when the values of a parameter are
    /// shuffled among the trials.
    fn rise(&self, param: usize, rng: &mut ChaCha8Rng) -> f64 {
        let mut donors = self.rows.clone();
        donors.shuffle(rng);
        let mut rise = 0.0;
        for ((&row, donor), plain) in self.rows.iter().zip(donors).zip(&self.plain) {
            let mut values = self.params.rows[row].clone();
            values[param] = self.params.rows[donor][param];
            rise += self.squared_error(row, &values) - plain;
        }
        rise
    }
}

impl Permuted {
    fn new(error: f64, rises: &[[f64; SHUFFLES]], costs: &[f64]) -> Permuted {
        // If all costs are equal, there is no variance to explain.
        let is_flat = variance(costs) < MIN_VARIANCE;
        let total = variance(costs).max(MIN_VARIANCE) * costs.len() as f64;
        let share = |rises: &[f64; SHUFFLES]| {
            let shares = rises.map(|rise| rise / 2.0 / total);
            let mean = shares.iter().sum::<f64>() / SHUFFLES as f64;
            (mean, variance(&shares).sqrt())
        };
        Permuted {
            explained: if is_flat { 0.0 } else { 1.0 - error / total },
            shares: rises.iter().map(share).collect(),
        }
    }
}

fn fitted(params: &Params, costs: &[f64], rows: &[usize]) -> Regression {
    let configs: Vec<Vec<u32>> = rows
        .iter()
        .map(|&row| positions(&params.rows[row]))
        .collect();
    let costs: Vec<f64> = rows.iter().map(|&row| costs[row]).collect();
    Regression::fit(&Tried::new(params), &configs, &costs)
}

/// The tried configs, as a search space for the model.
struct Tried<'p> {
    params: &'p Params,
    counts: Vec<u32>,
}

impl<'p> Tried<'p> {
    fn new(params: &'p Params) -> Tried<'p> {
        let counts = params.varied.iter().map(|param| param.values.len() as u32);
        Tried {
            counts: counts.collect(),
            params,
        }
    }
}

impl SpaceView for Tried<'_> {
    fn len(&self) -> usize {
        self.params.rows.len()
    }

    fn value_counts(&self) -> &[u32] {
        &self.counts
    }

    fn is_ordinal(&self, param: usize) -> bool {
        self.params.varied[param].is_ordinal
    }

    fn value(&self, param: usize, position: u32) -> f64 {
        let text = &self.params.varied[param].values[position as usize];
        text.parse().unwrap_or_else(|_| f64::from(position))
    }

    fn positions(&self, index: usize) -> Vec<u32> {
        positions(&self.params.rows[index])
    }

    fn index_of(&self, wanted: &[u32]) -> Option<usize> {
        let mut rows = self.params.rows.iter();
        rows.position(|row| positions(row) == wanted)
    }
}

/// Converts the positions of a config to the type that the model takes.
fn positions(row: &[usize]) -> Vec<u32> {
    row.iter().map(|&position| position as u32).collect()
}

fn variance(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::VariedParam;

    /// All 192 configs of `A` and `B`, which have eight values each, and `C`, which has three.
    fn params() -> Params {
        let number = |name: &str| VariedParam {
            name: name.into(),
            values: (0..8).map(|n| n.to_string()).collect(),
            is_ordinal: true,
        };
        let choice = VariedParam {
            name: "C".into(),
            values: ["x", "y", "z"].map(String::from).into(),
            is_ordinal: false,
        };
        let rows = (0..192).map(|n| vec![n % 8, n / 8 % 8, n / 64]).collect();
        Params {
            varied: vec![number("A"), number("B"), choice],
            fixed: Vec::new(),
            rows,
        }
    }

    fn permuted(cost: impl Fn(&[usize]) -> f64) -> Permuted {
        let params = params();
        let costs: Vec<f64> = params.rows.iter().map(|row| cost(row)).collect();
        permute(&params, &costs)
    }

    #[test]
    fn importances_of_a_sum_are_the_shares_of_its_variance() {
        // The variance of a uniform choice of 0..8 is 5.25; with the factor 2, it is 21.
        let found = permuted(|row| row[0] as f64 + 2.0 * row[1] as f64);
        let [a, b, c] = [0, 1, 2].map(|param| found.shares[param].0);
        assert!(found.explained > 0.95, "{found:?}");
        assert!(
            (a - 0.2).abs() < 0.06 && (b - 0.8).abs() < 0.12,
            "{found:?}"
        );
        assert!(c.abs() < 0.02, "{found:?}");
    }

    #[test]
    fn a_choice_that_decides_is_as_important_as_a_number() {
        let found = permuted(|row| [0.0, 5.0, 1.0][row[2]] + 0.01 * row[0] as f64);
        assert!(
            found.shares[2].0 > 0.8 && found.shares[0].0 < 0.05,
            "{found:?}"
        );
    }

    #[test]
    fn parameters_that_matter_together_both_count() {
        let found = permuted(|row| f64::from(u32::from(row[0] < 4) ^ u32::from(row[1] < 4)));
        assert!(
            found.shares[0].0 > 0.5 && found.shares[1].0 > 0.5,
            "{found:?}"
        );
    }

    #[test]
    fn of_noise_nothing_is_explained() {
        let found = permuted(|row| ((row[0] * 7919 + row[1] * 104_729 + row[2] * 611) % 97) as f64);
        assert!(found.explained < 0.2, "{found:?}");
    }
}
