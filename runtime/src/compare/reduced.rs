//! Compares outputs by a reduction: their sum, their largest or their smallest element.

use kiln_spec::{Comparison, Tolerance};

use super::unjudged::Unjudged;
use super::{EXACT, WorstElement, bound, rounding};
use crate::data::element::distance;
use crate::data::reference::Wide;

/// Compares the reductions of two outputs. The outputs may differ in length.
///
/// The tolerance of a sum is relative to the sum of the magnitudes of `want`, because rounding errors grow with the
/// magnitudes even if the elements cancel. Sums of integers cannot overflow, because they are computed with 128 bits.
pub(super) fn compare(
    output: &str,
    comparison: Comparison,
    got: &Wide,
    want: &Wide,
    tolerance: &Tolerance,
) -> Option<WorstElement> {
    let name = name_of(comparison)?;
    let error = match (got.to_whole(), want.to_whole()) {
        (Some(got), Some(want)) => {
            let (got, want) = (whole(comparison, got)?, whole(comparison, want)?);
            WorstElement {
                output: format!("{name}({output})"),
                index: 0,
                got: got as f64,
                want: want as f64,
                error: got.abs_diff(want) as f64,
                bound: 0.0,
            }
        }
        _ => {
            let wanted = want.to_f64s();
            let (got, want_value) = (
                real(comparison, &got.to_f64s())?,
                real(comparison, &wanted)?,
            );
            let bound = match comparison {
                _ if *tolerance == EXACT => 0.0,
                Comparison::Sum => sum_bound(tolerance, want, &wanted),
                _ => bound(tolerance, want.elem_type(), want_value, 0.0),
            };
            WorstElement {
                output: format!("{name}({output})"),
                index: 0,
                got,
                want: want_value,
                error: distance(got, want_value),
                bound,
            }
        }
    };
    Some(error)
}

/// The largest permitted distance from the sum of these expected values.
fn sum_bound(tolerance: &Tolerance, want: &Wide, wanted: &[f64]) -> f64 {
    let magnitude: f64 = wanted.iter().map(|x| x.abs()).sum();
    let rounded: f64 = wanted.iter().map(|x| rounding(want.elem_type(), *x)).sum();
    tolerance.absolute + tolerance.relative * magnitude + rounded
}

/// The reason why a comparison of reductions would say nothing about most elements of floats; `None` if it says
/// something.
pub(super) fn unjudged(
    output: &str,
    comparison: Comparison,
    want: &Wide,
    wanted: &[f64],
    tolerance: &Tolerance,
) -> Option<Unjudged> {
    let output = format!("{}({output})", name_of(comparison)?);
    let value = real(comparison, wanted)?;
    if !value.is_finite() {
        return Some(Unjudged::NoReduction { output, value });
    }
    if comparison != Comparison::Sum {
        return None;
    }
    let bound = sum_bound(tolerance, want, wanted);
    let mut magnitudes: Vec<f64> = wanted.iter().map(|x| x.abs()).collect();
    magnitudes.retain(|magnitude| *magnitude > 0.0);
    magnitudes.sort_unstable_by(f64::total_cmp);
    let len = magnitudes.len();
    let mut total = 0.0;
    let hidden = magnitudes.iter().take_while(|magnitude| {
        total += **magnitude;
        total <= bound
    });
    let count = hidden.count();
    (len >= MIN_ADDENDS && count > len / 2).then(|| Unjudged::Dominated {
        output,
        count,
        len,
        largest: magnitudes[len - 1],
        bound,
    })
}

/// Of fewer addends than this, chance may make most of them small.
const MIN_ADDENDS: usize = 4;

/// The name of a reduction; `None` if the output is not compared.
fn name_of(comparison: Comparison) -> Option<&'static str> {
    match comparison {
        Comparison::Sum => Some("sum"),
        Comparison::Max => Some("max"),
        Comparison::Min => Some("min"),
        Comparison::None => None,
    }
}

fn whole(comparison: Comparison, values: Vec<i128>) -> Option<i128> {
    let values = values.into_iter();
    match comparison {
        Comparison::Max => values.max(),
        Comparison::Min => values.min(),
        _ => Some(values.sum()),
    }
}

/// The largest value, the smallest value, or the sum. NaN if any value is NaN, so that no maximum hides a NaN.
fn real(comparison: Comparison, values: &[f64]) -> Option<f64> {
    let pick = |better: fn(f64, f64) -> bool| {
        let pick = |a: f64, b: f64| {
            if a.is_nan() || better(a, b) { a } else { b }
        };
        values.iter().copied().reduce(pick)
    };
    match comparison {
        Comparison::Max => pick(|a, b| a >= b),
        Comparison::Min => pick(|a, b| a <= b),
        _ => Some(values.iter().sum()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE: Tolerance = Tolerance {
        relative: 1e-3,
        absolute: 0.0,
    };

    fn floats(comparison: Comparison, got: &[f64], want: &[f64]) -> WorstElement {
        let (got, want) = (Wide::F32(got.to_vec()), Wide::F32(want.to_vec()));
        compare("y", comparison, &got, &want, &TOLERANCE).unwrap()
    }

    #[test]
    fn outputs_of_two_lengths_are_equal_where_what_they_come_to_is() {
        use Comparison::{Max, Min, Sum};
        assert!(floats(Sum, &[1.0, 2.0, 3.0], &[6.0]).passes());
        assert!(!floats(Sum, &[1.0, 2.0, 3.1], &[6.0]).passes());
        assert!(floats(Max, &[1.0, 7.0], &[7.0, 2.0, 3.0]).passes());
        assert!(!floats(Max, &[1.0, 7.5], &[7.0]).passes());
        assert!(floats(Min, &[-1.0, 7.0], &[-1.0]).passes());
        assert!(!floats(Min, &[-1.1], &[-1.0]).passes());
    }

    #[test]
    fn a_sum_that_cancels_is_measured_against_what_was_added() {
        let want = [1000.0, -1000.0];
        assert!(floats(Comparison::Sum, &[1.5], &want).passes());
        assert!(!floats(Comparison::Sum, &[2.5], &want).passes());
    }

    #[test]
    fn one_element_that_is_no_number_fails_every_comparison() {
        for comparison in [Comparison::Sum, Comparison::Max, Comparison::Min] {
            for got in [[f64::NAN, 1.0], [1.0, f64::NAN]] {
                assert!(!floats(comparison, &got, &[1.0]).passes(), "{comparison:?}");
            }
        }
    }

    #[test]
    fn a_sum_that_one_element_decides_or_that_is_not_finite_is_reported() {
        let of = |comparison, want: &[f64]| {
            let wide = Wide::F32(want.to_vec());
            unjudged("y", comparison, &wide, want, &TOLERANCE)
        };
        let ordinary: Vec<f64> = (1..100).map(f64::from).collect();
        let mut dominated = ordinary.clone();
        dominated.push(f64::from(f32::MAX));
        for comparison in [Comparison::Sum, Comparison::Max, Comparison::Min] {
            assert_eq!(of(comparison, &ordinary), None);
            assert_eq!(of(comparison, &[]), None);
            for bad in [f64::NAN, f64::INFINITY] {
                let bad = [1.0, bad];
                let finite = comparison == Comparison::Min && !bad[1].is_nan();
                assert_eq!(of(comparison, &bad).is_none(), finite, "{comparison:?}");
            }
        }
        let text = of(Comparison::Sum, &dominated).unwrap().to_string();
        for part in ["sum(y) says nothing about 99 of its 100", "3.403e38"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(of(Comparison::Min, &dominated), None);
        assert_eq!(of(Comparison::Sum, &[1e30, 1.0]), None);
    }

    #[test]
    fn integers_are_added_without_overflow_and_compared_exactly() {
        let got = Wide::I32(vec![i32::MAX, i32::MAX]);
        let same = Wide::I32(vec![i32::MAX, 1, i32::MAX - 1]);
        let sum = |got, want| compare("y", Comparison::Sum, got, want, &TOLERANCE).unwrap();
        assert!(sum(&got, &same).passes());
        assert!(!sum(&got, &Wide::I32(vec![i32::MAX, i32::MAX - 1])).passes());
    }
}
