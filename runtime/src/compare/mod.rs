//! Compares outputs with expected outputs.

mod judged;
mod reduced;
mod scale;
mod unjudged;

use std::fmt;

use kiln_spec::{ElemType, KernelSpec, SliceArg, Tolerance};
use serde::{Deserialize, Serialize};

use crate::data::element::{Element, for_elem_type};
use crate::data::reference::Wide;
use crate::parallel;

pub use judged::{few_unjudged, unjudged};
pub use unjudged::Unjudged;

/// The worst element of an output, which is the one whose error is the largest multiple of its bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorstElement {
    /// The name of the output.
    pub output: String,
    /// The index of the element.
    pub index: u64,
    /// The value that the kernel computed.
    pub got: f64,
    /// The expected value.
    pub want: f64,
    /// `|got - want|`. It is 0 if both are NaN or the same infinity, and otherwise infinite if one of them is not
    /// finite.
    pub error: f64,
    /// The largest error that is within tolerance.
    pub bound: f64,
}

impl WorstElement {
    /// The same element, with the bound multiplied by `times`.
    #[must_use]
    pub fn loosened(self, times: f64) -> WorstElement {
        WorstElement {
            bound: self.bound * times,
            ..self
        }
    }

    /// Whether this element is within tolerance. If so, the whole output is within tolerance, because this is its worst
    /// element.
    pub fn passes(&self) -> bool {
        self.error.is_finite() && self.error <= self.bound
    }

    /// The error as a multiple of the bound. The element passes if this is at most 1.
    pub fn ratio(&self) -> f64 {
        if self.error == 0.0 {
            0.0
        } else {
            self.error / self.bound
        }
    }
}

impl fmt::Display for WorstElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}[{}] is {}, but should be {}: error {:.3e}, bound {:.3e}",
            self.output,
            self.index,
            number(self.got),
            number(self.want),
            self.error,
            self.bound
        )
    }
}

/// Formats a value: a whole number with all its digits, like an integer, and any other number with an exponent.
fn number(value: f64) -> String {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value.fract() == 0.0 && value.abs() < EXACT {
        true => format!("{value}"),
        false => format!("{value:e}"),
    }
}

/// Compares an output with the expected output in the way that the spec declares: element by element, or by a reduction
/// such as the sum.
///
/// `got` are the bytes that were read from the device. Returns `None` if the output has no elements or is not
/// compared.
///
/// # Panics
/// If the element types differ, or if the outputs are compared element by element and their lengths differ.
pub fn compare_output(
    spec: &KernelSpec,
    slice: &SliceArg,
    got: &[u8],
    want: &Wide,
) -> Option<WorstElement> {
    let (name, tolerance) = (&slice.name, spec.tolerance_of(slice));
    match slice.compare {
        None => compare(name, got, want, &tolerance),
        Some(comparison) => {
            let got = Wide::of_bytes(want.elem_type(), got);
            reduced::compare(name, comparison, &got, want, &tolerance)
        }
    }
}

/// Compares an output with the expected output element by element, with the bound that [`Tolerance`] defines.
///
/// `got` are the bytes that were read from the device. Returns `None` if the output has no elements.
///
/// # Panics
/// If the element types or the lengths differ.
pub fn compare(
    output: &str,
    got: &[u8],
    want: &Wide,
    tolerance: &Tolerance,
) -> Option<WorstElement> {
    for_elem_type!(want.elem_type(), T => {
        let wide = want.elements::<T>();
        let count = got.len() / size_of::<T>();
        assert_eq!(count, wide.len(), "output and reference of `{output}` should have one length");
        let (tolerance, scale) = if T::TYPE.is_float() {
            (*tolerance, scale::scale(wide.len(), |index| T::wide_to_f64(wide[index])))
        } else {
            (EXACT, 0.0)
        };
        let error = |index: usize| {
            let at = index * size_of::<T>();
            let got: T = bytemuck::pod_read_unaligned(&got[at..at + size_of::<T>()]);
            let want = T::wide_to_f64(wide[index]);
            WorstElement {
                output: String::new(),
                index: index as u64,
                got: got.to_f64(),
                want,
                error: got.distance(wide[index]),
                bound: bound(&tolerance, T::TYPE, want, scale),
            }
        };
        let worse = |worst, next| if farther(&next, &worst) { next } else { worst };
        let worst = parallel::ranges(count, |range| range.map(error).reduce(worse));
        worst.into_iter().flatten().reduce(worse).map(|worst| WorstElement {
            output: output.into(),
            ..worst
        })
    })
}

const EXACT: Tolerance = Tolerance {
    relative: 0.0,
    absolute: 0.0,
};

/// The largest permitted distance of an element from `want`, as [`Tolerance`] defines it, with the scale of the output.
fn bound(tolerance: &Tolerance, ty: ElemType, want: f64, scale: f64) -> f64 {
    if *tolerance == EXACT {
        return 0.0;
    }
    tolerance.absolute + tolerance.relative * want.abs().max(scale) + rounding(ty, want)
}

/// The maximum error of rounding a value to a 16-bit float, which is half a unit in the last place, also for subnormal
/// values. For wider floats, it is the smallest normal number, because GPUs may flush subnormal numbers to zero. It is 0
/// for other types.
fn rounding(ty: ElemType, want: f64) -> f64 {
    let (relative, least) = match ty {
        ElemType::F16 => (-11, -25),
        ElemType::Bf16 => (-8, -134),
        ElemType::F32 => return 2.0_f64.powi(-126),
        ElemType::F64 => return 2.0_f64.powi(-1022),
        _ => return 0.0,
    };
    (want.abs() * 2.0_f64.powi(relative)).max(2.0_f64.powi(least))
}

fn farther(a: &WorstElement, b: &WorstElement) -> bool {
    (!a.passes(), a.ratio()) > (!b.passes(), b.ratio())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE: Tolerance = Tolerance {
        relative: 1e-3,
        absolute: 0.0,
    };

    #[test]
    fn whole_numbers_are_written_with_all_their_digits() {
        let error = WorstElement {
            output: "c".into(),
            index: 3,
            got: 65_793.0,
            want: 0.25,
            error: 65_792.75,
            bound: 0.0,
        };
        assert_eq!(
            error.to_string(),
            "c[3] is 65793, but should be 2.5e-1: error 6.579e4, bound 0.000e0"
        );
    }

    fn worst(got: &[f32], want: &[f64]) -> WorstElement {
        let want = Wide::F32(want.to_vec());
        compare("c", bytemuck::cast_slice(got), &want, &TOLERANCE).unwrap()
    }

    #[test]
    fn the_worst_element_is_reported_with_both_values_and_its_bound() {
        let max = worst(&[1.0, 2.1, 3.0], &[1.0, 2.0, 3.0]);
        assert_eq!((max.index, max.want), (1, 2.0));
        assert!(!max.passes());
        assert!(max.to_string().contains("c[1]"), "{max}");
    }

    #[test]
    fn a_small_element_is_measured_against_the_root_mean_square() {
        assert!(worst(&[1000.0, 0.5], &[1000.0, 0.0]).passes());
        assert!(!worst(&[1000.0, 0.9], &[1000.0, 0.0]).passes());
    }

    #[test]
    fn a_sentinel_does_not_hide_that_the_other_elements_are_wrong() {
        let mut want: Vec<f64> = (0..256_u32).map(f64::from).collect();
        want[17] = f64::from(f32::MAX);
        let right: Vec<f32> = want.iter().map(|x| *x as f32).collect();
        assert!(worst(&right, &want).passes());
        let mut zeros = vec![0.0; 256];
        zeros[17] = f32::MAX;
        let max = worst(&zeros, &want);
        assert!(!max.passes(), "{max}");
        // The comparison of a few elements is no different.
        assert!(!worst(&[f32::MAX, 0.0, 0.0, 0.0], &[want[17], 1.0, 2.0, 3.0]).passes());
    }

    #[test]
    fn an_error_is_measured_against_the_larger_of_the_element_and_the_root_mean_square() {
        // The expected element is 1000, which is larger than the root mean square of 707, so the bound is relative to
        // 1000.
        assert!(worst(&[1000.9, 0.0], &[1000.0, 0.0]).passes());
        assert!(!worst(&[1001.1, 0.0], &[1000.0, 0.0]).passes());
    }

    #[test]
    fn no_number_never_passes_where_the_reference_is_finite() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let max = worst(&[1.0, bad, 1.0], &[1.0, 1.0, 1.0]);
            assert!(!max.passes());
            assert_eq!(max.index, 1);
        }
        assert!(worst(&[f32::INFINITY], &[f64::INFINITY]).passes());
        assert!(!worst(&[f32::INFINITY], &[f64::NEG_INFINITY]).passes());
        assert!(!worst(&[1.0], &[f64::NAN]).passes());
    }

    #[test]
    fn an_all_zero_reference_passes_only_zeros() {
        assert!(worst(&[0.0, -0.0], &[0.0, 0.0]).passes());
        assert!(!worst(&[0.0, 1e-30], &[0.0, 0.0]).passes());
    }

    #[test]
    fn rounding_to_a_16_bit_type_comes_on_top_of_a_tolerance_that_is_not_zero() {
        let compared = |got: f32, tolerance| {
            let got = [half::f16::from_f32(got)];
            let want = Wide::F16(vec![1.0 + 2.0_f64.powi(-11)]);
            compare("c", bytemuck::cast_slice(&got), &want, &tolerance).unwrap()
        };
        let small = Tolerance {
            relative: 1e-6,
            absolute: 0.0,
        };
        assert!(compared(1.0, small).passes());
        assert!(compared(1.0 + 2.0_f32.powi(-10), small).passes());
        assert!(!compared(1.0 - 2.0_f32.powi(-11), small).passes());
        assert!(!compared(1.0, EXACT).passes());
    }

    #[test]
    fn integers_are_compared_exactly() {
        let loose = Tolerance {
            relative: 1.0,
            absolute: 1.0,
        };
        let want = Wide::I32(vec![1, 2, 3]);
        let same = compare("c", bytemuck::cast_slice(&[1i32, 2, 3]), &want, &loose).unwrap();
        assert!(same.passes());
        let off = compare("c", bytemuck::cast_slice(&[1i32, 2, 4]), &want, &loose).unwrap();
        assert!(!off.passes());
    }

    #[test]
    fn integers_of_64_bits_that_are_one_f64_are_told_apart() {
        let want = Wide::I64(vec![0, i64::MAX]);
        let off = [0, i64::MAX - 1];
        let off = compare("c", bytemuck::cast_slice(&off), &want, &EXACT).unwrap();
        assert_eq!((off.index, off.error, off.passes()), (1, 1.0, false));
        let want = Wide::U64(vec![u64::MAX - 1]);
        let same = compare("c", bytemuck::cast_slice(&[u64::MAX - 1]), &want, &EXACT).unwrap();
        assert!(same.passes());
        let off = compare("c", bytemuck::cast_slice(&[u64::MAX]), &want, &EXACT).unwrap();
        assert!(!off.passes());
    }

    #[test]
    fn doubles_are_compared_in_double_precision() {
        let want = Wide::F64(vec![1.0]);
        let tolerance = Tolerance {
            relative: 1e-14,
            absolute: 0.0,
        };
        let compared =
            |got: f64| compare("c", bytemuck::cast_slice(&[got]), &want, &tolerance).unwrap();
        assert!(compared(1.0 + 5e-15).passes());
        assert!(!compared(f64::from(1.0_f32 + f32::EPSILON)).passes());
        assert!(!compared(1.0 + 5e-14).passes());
    }
}
