//! Compares outputs by a reduction: their sum, their largest or their smallest element.

use kiln_spec::{Comparison, Tolerance};

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
    let name = match comparison {
        Comparison::Sum => "sum",
        Comparison::Max => "max",
        Comparison::Min => "min",
        Comparison::None => return None,
    };
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
                Comparison::Sum => {
                    let magnitude: f64 = wanted.iter().map(|x| x.abs()).sum();
                    let rounded: f64 = wanted.iter().map(|x| rounding(want.elem_type(), *x)).sum();
                    tolerance.absolute + tolerance.relative * magnitude + rounded
                }
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
    fn integers_are_added_without_overflow_and_compared_exactly() {
        let got = Wide::I32(vec![i32::MAX, i32::MAX]);
        let same = Wide::I32(vec![i32::MAX, 1, i32::MAX - 1]);
        let sum = |got, want| compare("y", Comparison::Sum, got, want, &TOLERANCE).unwrap();
        assert!(sum(&got, &same).passes());
        assert!(!sum(&got, &Wide::I32(vec![i32::MAX, i32::MAX - 1])).passes());
    }
}
