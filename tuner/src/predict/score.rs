//! Scores a predicted order of configs by their measured times.

use serde::Serialize;

/// The score of a predicted order of configs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Number of configs in the order.
    pub configs: usize,
    /// Spearman's rank correlation: 1 for the same order, 0 for chance, -1 for the reverse.
    pub rank_correlation: f64,
    /// Number of configs at the beginning of the order that are compared with random order: a twentieth of all configs,
    /// but at least one.
    pub first: usize,
    /// The fastest measured time, divided by the best time among the `first` configs of the predicted order.
    pub share: f64,
    /// The fastest measured time, divided by the expected best time among `first` configs in random order.
    pub random_share: f64,
}

/// [`Score::first`] is the number of configs divided by this constant.
const FIRST: usize = 20;

/// The minimum rank correlation of a prediction, in standard deviations of the rank correlation of a random order. A
/// random order reaches this with a probability of one in a hundred.
const DEVIATIONS: f64 = 2.33;

impl Score {
    /// Computes the score from pairs of predicted and measured time; `None` for fewer than two pairs. Configs with
    /// equal predictions are treated as being in random order.
    pub fn new(pairs: &[(f64, f64)]) -> Option<Score> {
        if pairs.len() < 2 {
            return None;
        }
        let mut measured: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
        measured.sort_by(f64::total_cmp);
        let first = (pairs.len() / FIRST).max(1);
        Some(Score {
            configs: pairs.len(),
            rank_correlation: rank_correlation(pairs),
            first,
            share: measured[0] / best_of_first(pairs, first),
            random_share: measured[0] / expected_best(&measured, first),
        })
    }

    /// Whether the prediction is better than random order. Its rank correlation must exceed what random orders reach,
    /// and the best of its `first` configs must be at least as fast as the expected best of that many configs in random
    /// order.
    pub fn beats_random(&self) -> bool {
        let chance = DEVIATIONS / ((self.configs - 1) as f64).sqrt();
        self.rank_correlation > chance && self.share >= self.random_share
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "rank correlation {:.2} over {} configs, best of the first {} {:.0} % of the optimum (random order {:.0} %)",
            self.rank_correlation,
            self.configs,
            self.first,
            self.share * 100.0,
            self.random_share * 100.0
        )
    }
}

/// The expected best time among the `first` configs of the predicted order. If configs at the boundary have equal
/// predictions, a random choice among them is assumed.
fn best_of_first(pairs: &[(f64, f64)], first: usize) -> f64 {
    let mut guesses: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
    guesses.sort_by(f64::total_cmp);
    let boundary = guesses[first - 1];
    let better: Vec<f64> = pairs
        .iter()
        .filter(|pair| pair.0.total_cmp(&boundary).is_lt())
        .map(|pair| pair.1)
        .collect();
    let best = better.iter().copied().fold(f64::INFINITY, f64::min);
    let same = pairs
        .iter()
        .filter(|pair| pair.0.total_cmp(&boundary).is_eq());
    let mut same: Vec<f64> = same.map(|pair| pair.1.min(best)).collect();
    same.sort_by(f64::total_cmp);
    expected_best(&same, first - better.len())
}

/// The expected minimum of `count` values that are drawn without replacement from `ascending`, a sorted list.
fn expected_best(ascending: &[f64], count: usize) -> f64 {
    let mut expected = 0.0;
    // The probability that none of the smaller values was drawn.
    let mut none_yet = 1.0;
    for (index, value) in ascending.iter().enumerate() {
        let drawn = (count as f64 / (ascending.len() - index) as f64).min(1.0);
        expected += none_yet * drawn * value;
        none_yet *= 1.0 - drawn;
        if none_yet <= 0.0 {
            break;
        }
    }
    expected
}

fn rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let guessed = ranks(pairs.iter().map(|pair| pair.0));
    let measured = ranks(pairs.iter().map(|pair| pair.1));
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let (mut both, mut left, mut right) = (0.0, 0.0, 0.0);
    for (a, b) in guessed.iter().zip(&measured) {
        let (a, b) = (a - mean, b - mean);
        both += a * b;
        left += a * a;
        right += b * b;
    }
    if left == 0.0 || right == 0.0 {
        0.0
    } else {
        both / (left * right).sqrt()
    }
}

/// The rank of each value, from 0. Equal values share their mean rank.
fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = values.enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut ranks = vec![0.0; order.len()];
    let mut start = 0;
    while start < order.len() {
        let same = order[start..]
            .iter()
            .take_while(|(_, value)| *value == order[start].1)
            .count();
        let rank = start as f64 + (same as f64 - 1.0) / 2.0;
        for (index, _) in &order[start..start + same] {
            ranks[*index] = rank;
        }
        start += same;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(guessed: impl Fn(usize) -> f64) -> Score {
        let pairs: Vec<_> = (0..400).map(|i| (guessed(i), 1.0 + i as f64)).collect();
        Score::new(&pairs).unwrap()
    }

    #[test]
    fn the_right_order_scores_one_and_the_reverse_minus_one() {
        let right = score(|i| i as f64);
        assert_eq!((right.rank_correlation, right.share), (1.0, 1.0));
        assert!(right.beats_random());
        let wrong = score(|i| -(i as f64));
        assert_eq!(wrong.rank_correlation, -1.0);
        assert!(!wrong.beats_random());
    }

    #[test]
    fn a_guess_that_says_nothing_does_not_beat_chance() {
        let same = score(|_| 1.0);
        assert_eq!(same.rank_correlation, 0.0);
        assert_eq!(same.share, same.random_share);
        assert!(!same.beats_random());
        let scattered = score(|i| (i * 7919 % 400) as f64);
        assert!(!scattered.beats_random(), "{scattered}");
    }

    #[test]
    fn configs_with_the_same_guess_are_tried_in_random_order() {
        // One of three configs is predicted to be the fastest but is the slowest. The other two have equal predictions.
        let pairs = [(1.0, 9.0), (2.0, 1.0), (2.0, 5.0)];
        assert_eq!(best_of_first(&pairs, 1), 9.0);
        assert_eq!(best_of_first(&pairs, 2), 3.0);
        assert_eq!(best_of_first(&pairs, 3), 1.0);
    }

    #[test]
    fn random_order_is_scored_exactly() {
        // Drawing one of three gives the mean. Drawing two gives the minimum in two of three cases, and the middle
        // value in one.
        assert!((expected_best(&[1.0, 2.0, 6.0], 1) - 3.0).abs() < 1e-12);
        assert!((expected_best(&[1.0, 2.0, 6.0], 2) - 4.0 / 3.0).abs() < 1e-12);
        assert_eq!(expected_best(&[1.0, 2.0, 6.0], 3), 1.0);
    }
}
