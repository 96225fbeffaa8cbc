//! Tests models that exceed a tiny budget. Compares their samples with a list of all valid configs.

use super::*;
use crate::csp::{CspError, Function, LayerBudget, Model, Semantics, TermId, Value};

const TINY: LayerBudget = LayerBudget {
    kept: 4096,
    looked_at: 1500,
};

struct Built {
    model: Model,
}

impl Built {
    fn new(params: usize, values: i128) -> Built {
        let values: Vec<Value> = (0..values).map(Value::Int).collect();
        Built {
            model: Model::new(Semantics::Kiln, &vec![values; params]).unwrap(),
        }
    }

    fn int(&mut self, x: i128) -> TermId {
        self.model.graph().constant(Value::Int(x))
    }

    fn apply(&mut self, function: Function, x: TermId, y: TermId) -> TermId {
        self.model.graph().apply(function, &[x, y])
    }

    /// The sum of the parameters, each multiplied by a factor.
    fn sum(&mut self, factors: &[i128]) -> TermId {
        let mut sum = self.int(0);
        for (param, factor) in factors.iter().enumerate() {
            let (param, factor) = (self.model.graph().param(param), self.int(*factor));
            let part = self.apply(Function::Mul, param, factor);
            sum = self.apply(Function::Add, sum, part);
        }
        sum
    }

    fn constrain(&mut self, function: Function, x: TermId, y: i128) {
        let y = self.int(y);
        let holds = self.apply(function, x, y);
        self.model.constrain(holds);
    }

    /// All valid configs, sorted.
    fn valid(&self) -> Vec<Vec<u32>> {
        let set = self.model.solve(LayerBudget::default()).unwrap();
        let mut valid: Vec<_> = (0..set.len()).map(|index| set.places(index)).collect();
        valid.sort();
        valid
    }
}

/// A model with two components: four parameters with seven values each and a constraint on the remainder of their sum,
/// and two more parameters.
fn tied() -> Built {
    let mut built = Built::new(6, 7);
    let sum = built.sum(&[170, 53, 291, 1009]);
    let modulus = built.int(11);
    let rest = built.apply(Function::TruncRem, sum, modulus);
    built.constrain(Function::Le, rest, 3);
    let (a, b) = (built.model.graph().param(0), built.model.graph().param(1));
    let less = built.apply(Function::Le, a, b);
    built.model.constrain(less);
    let (e, f) = (built.model.graph().param(4), built.model.graph().param(5));
    let other = built.apply(Function::Ne, e, f);
    built.model.constrain(other);
    assert_eq!(built.model.solve(TINY).unwrap_err(), CspError::TooLong);
    built
}

#[test]
fn samples_of_a_space_that_is_too_long_are_valid_and_uniform() {
    let built = tied();
    let valid = built.valid();
    let relaxed = built.model.relaxed(TINY).unwrap();
    assert_eq!(relaxed.left_out(), [0], "only the sum is too long");
    assert!(relaxed.set().len() > valid.len() as u128);
    let samples = relaxed.draw(b"uniform", 600_000);
    let mut counts = vec![0u32; valid.len()];
    for sample in &samples {
        let index = valid.binary_search(sample);
        counts[index.expect("a sample should be valid")] += 1;
    }
    let expected = samples.len() as f64 / valid.len() as f64;
    let squares = counts
        .iter()
        .map(|count| (f64::from(*count) - expected).powi(2));
    let freedom = valid.len() as f64 - 1.0;
    let deviation = (squares.sum::<f64>() / expected - freedom) / (2.0 * freedom).sqrt();
    println!(
        "{} configs, {} samples, chi-square {deviation:+.2} deviations",
        valid.len(),
        samples.len()
    );
    assert!(deviation.abs() < 4.0, "{deviation}");
}

#[test]
fn lists_of_distinct_samples_hold_every_config_as_often() {
    let built = tied();
    let valid = built.valid();
    let relaxed = built.model.relaxed(TINY).unwrap();
    let size = SampleSize {
        configs: valid.len() / 8,
        tries: 1 << 14,
    };
    for walked in [false, true] {
        let tries = if walked { 1 << 20 } else { size.tries };
        let size = SampleSize { tries, ..size };
        assert_eq!(relaxed.set().len() <= tries.into(), walked);
        let mut counts = vec![0u32; valid.len()];
        let lists = 120u32;
        for seed in 0..lists {
            let listed = relaxed.clone().list(&seed.to_le_bytes(), size, None);
            let listed = listed.unwrap();
            assert_eq!(listed.len(), size.configs);
            for index in 0..listed.len() {
                let places = listed.places(index);
                assert_eq!(listed.index_of(&places), Some(index));
                counts[valid.binary_search(&places).unwrap_or(usize::MAX)] += 1;
            }
        }
        // A list contains a given config with a probability of 1/8. The number of lists that contain it is therefore
        // binomial.
        let share = size.configs as f64 / valid.len() as f64;
        let mean = f64::from(lists) * share;
        let variance = mean * (1.0 - share);
        let squares = counts
            .iter()
            .map(|count| (f64::from(*count) - mean).powi(2));
        let mean_square = squares.sum::<f64>() / variance / valid.len() as f64;
        let spread = (2.0 / valid.len() as f64).sqrt();
        assert!((mean_square - 1.0).abs() < 4.0 * spread, "{mean_square}");
    }
}

#[test]
fn the_interval_of_the_estimate_holds_the_truth() {
    let built = tied();
    let truth = built.valid().len() as f64;
    let relaxed = built.model.relaxed(TINY).unwrap();
    let holds = (0..100u32).filter(|seed| {
        let estimate = relaxed.estimate(&seed.to_le_bytes(), 2_000);
        assert!(estimate.least <= estimate.about && estimate.about <= estimate.most);
        assert!(estimate.most - estimate.least < truth, "{estimate}");
        (estimate.least..=estimate.most).contains(&truth)
    });
    let holds = holds.count();
    println!("{holds} of 100 intervals hold the truth");
    assert!(holds >= 90, "{holds}");
}

#[test]
fn a_list_is_always_the_same_holds_what_it_must_and_is_complete_where_there_are_few() {
    let built = tied();
    let valid = built.valid();
    let relaxed = built.model.relaxed(TINY).unwrap();
    let size = SampleSize {
        configs: 50,
        tries: 1 << 14,
    };
    for place in [0, valid.len() / 2, valid.len() - 1] {
        let with = Some(valid[place].as_slice());
        for tries in [1 << 14, 1 << 20] {
            let size = SampleSize { tries, ..size };
            let listed = relaxed.clone().list(b"seed", size, with).unwrap();
            let again = relaxed.clone().list(b"seed", size, with).unwrap();
            assert_eq!(listed.len(), 50);
            assert!(!listed.is_complete());
            assert!(listed.index_of(&valid[place]).is_some());
            assert!((0..50).all(|i| listed.places(i) == again.places(i)));
            assert!(listed.bytes() <= relaxed.set().bytes() + 24 * listed.len());
        }
    }
    let listed = relaxed.clone().list(b"seed", SampleSize::default(), None);
    let listed = listed.unwrap();
    assert!(listed.is_complete());
    assert_eq!(listed.valid().exact(), Some(valid.len() as u128));
    let mut found: Vec<_> = (0..listed.len()).map(|i| listed.places(i)).collect();
    found.sort();
    assert!(found == valid);
}

#[test]
fn a_space_with_hardly_a_valid_config_is_refused() {
    let mut built = Built::new(12, 100);
    let factors: Vec<i128> = (0..12).map(|i| 100_003 * i + 7).collect();
    let sum = built.sum(&factors);
    built.constrain(Function::Eq, sum, 77_777_777);
    let relaxed = built.model.relaxed(TINY).unwrap();
    assert_eq!(relaxed.set().len(), 100u128.pow(12));
    let size = SampleSize {
        tries: 1 << 16,
        ..SampleSize::default()
    };
    let refused = relaxed.list(b"seed", size, None).unwrap_err();
    let (accepted, tried) = (0, 1 << 16);
    assert_eq!(refused, CspError::Hopeless { accepted, tried });
    assert!(refused.to_string().contains("\nhelp: "), "{refused}");
}

#[test]
fn what_fits_the_budget_has_nothing_left_out() {
    let built = tied();
    let exact = built.model.solve(LayerBudget::default()).unwrap();
    let relaxed = built.model.relaxed(LayerBudget::default()).unwrap();
    assert!(relaxed.left_out().is_empty());
    assert_eq!(relaxed.set().len(), exact.len());
    let same = (0..exact.len()).all(|i| relaxed.set().places(i) == exact.places(i));
    assert!(same);
}
