//! Finds expected outputs with which a comparison would say nothing.

use kiln_spec::{Comparison, ElemType, KernelSpec, SliceArg, Tolerance};

use super::scale::scale;
use super::unjudged::Unjudged;
use super::{bound, reduced};
use crate::data::reference::Wide;
use crate::parallel;

/// Of fewer elements than this, chance may make most of them small.
const MIN_ELEMENTS: usize = 32;

/// The reason why a comparison with `want`, the expected output, would say nothing about most elements; `None` if it
/// says something.
pub fn unjudged(spec: &KernelSpec, slice: &SliceArg, want: &Wide) -> Option<Unjudged> {
    let tolerance = spec.tolerance_of(slice);
    if !want.elem_type().is_float() {
        return None;
    }
    let values = want.to_f64s();
    match slice.compare {
        None => elements(&slice.name, want, &values, &tolerance),
        Some(Comparison::None) => None,
        Some(comparison) => reduced::unjudged(&slice.name, comparison, want, &values, &tolerance),
    }
}

/// Like [`unjudged`], for an output of few elements, of which `wants` are the expected outputs for several inputs. Zeros
/// would have to pass for each element, because chance may make some of them small.
pub fn few_unjudged(spec: &KernelSpec, slice: &SliceArg, wants: &[&Wide]) -> Option<Unjudged> {
    match slice.compare {
        None => few(&slice.name, wants, &spec.tolerance_of(slice)),
        Some(_) => None,
    }
}

fn few(output: &str, wants: &[&Wide], tolerance: &Tolerance) -> Option<Unjudged> {
    let [first, ..] = wants else { return None };
    if !first.elem_type().is_float() || first.len() >= MIN_ELEMENTS {
        return None;
    }
    let values: Vec<f64> = wants.iter().flat_map(|want| want.to_f64s()).collect();
    let loose = Loose::of(first.elem_type(), &values, tolerance);
    (loose.len > 0 && loose.count == loose.len).then(|| loose.report(output, &values))
}

fn elements(output: &str, want: &Wide, values: &[f64], tolerance: &Tolerance) -> Option<Unjudged> {
    let len = values.len();
    let not_numbers = values.iter().filter(|value| value.is_nan()).count();
    if len >= MIN_ELEMENTS && not_numbers > len - len / 4 {
        return Some(Unjudged::NotNumbers {
            output: output.to_owned(),
            count: not_numbers,
            len,
        });
    }
    let loose = Loose::of(want.elem_type(), values, tolerance);
    let is_unjudged = loose.len >= MIN_ELEMENTS && loose.count > loose.len / 2;
    is_unjudged.then(|| loose.report(output, values))
}

/// The elements for which zeros would pass.
struct Loose {
    /// Their number.
    count: usize,
    /// Number of finite elements other than zero.
    len: usize,
    /// The tolerance of the smallest elements.
    bound: f64,
}

impl Loose {
    fn of(ty: ElemType, values: &[f64], tolerance: &Tolerance) -> Loose {
        let scale = scale(values.len(), |index| values[index]);
        let bound_of = |value: f64| bound(tolerance, ty, value, scale);
        let counts = parallel::ranges(values.len(), |range| {
            let finite = values[range].iter().filter(|value| value.is_finite());
            let judged = finite.filter(|value| **value != 0.0);
            judged.fold((0, 0), |(loose, all), value| {
                (
                    loose + usize::from(value.abs() <= bound_of(*value)),
                    all + 1,
                )
            })
        });
        let add = |(a, b): (usize, usize), (c, d)| (a + c, b + d);
        let (count, len) = counts.into_iter().fold((0, 0), add);
        Loose {
            count,
            len,
            bound: bound_of(0.0),
        }
    }

    fn report(self, output: &str, values: &[f64]) -> Unjudged {
        let mut magnitudes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
        magnitudes.retain(|magnitude| *magnitude > 0.0 && magnitude.is_finite());
        magnitudes.sort_unstable_by(f64::total_cmp);
        Unjudged::Loose {
            output: output.to_owned(),
            count: self.count,
            len: self.len,
            median: magnitudes[self.len / 2],
            bound: self.bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: Vec<f64>, relative: f64, absolute: f64) -> Option<Unjudged> {
        let tolerance = Tolerance { relative, absolute };
        elements("y", &Wide::F32(values.clone()), &values, &tolerance)
    }

    fn numbers(len: u32, times: f64) -> Vec<f64> {
        (1..=len)
            .map(|i| times * f64::from(i % 97) - 40.0 * times)
            .collect()
    }

    #[test]
    fn a_tolerance_above_most_elements_is_reported_with_figures() {
        assert_eq!(of(numbers(1000, 1.0), 1e-3, 0.0), None);
        assert_eq!(of(numbers(1000, 1.0), 1e-3, 1.0), None);
        let text = of(numbers(1000, 1e-3), 1e-3, 1.0).unwrap().to_string();
        for part in ["990 of the 990", "`y`", "1.000e0", "zeros would pass"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(of(numbers(1000, 1.0), 2.0, 0.0).is_some());
        // Chance makes a few elements small.
        assert_eq!(of(numbers(20, 1e-3), 1e-3, 1.0), None);
    }

    #[test]
    fn few_elements_are_reported_if_zeros_would_pass_for_each_of_several_inputs() {
        let one = |value: f64| Wide::F32(vec![value]);
        let told = |wants: [f64; 2], absolute: f64| {
            let relative = 1e-3;
            let [first, second] = wants.map(one);
            few("y", &[&first, &second], &Tolerance { relative, absolute }).is_some()
        };
        assert!(told([0.01, -0.02], 0.1));
        assert!(!told([0.01, -0.02], 0.015));
        assert!(!told([0.01, -5.0], 0.1));
        assert!(!told([0.0, 0.0], 0.1));
    }

    #[test]
    fn a_sentinel_does_not_loosen_the_comparison_of_the_others() {
        let mut values = numbers(1000, 1.0);
        values[7] = f64::from(f32::MAX);
        assert_eq!(of(values, 1e-3, 0.0), None);
    }

    #[test]
    fn outputs_of_which_most_are_nan_are_reported_and_half_of_them_are_not() {
        let mut values = numbers(1000, 1.0);
        values[..550].fill(f64::NAN);
        assert_eq!(of(values.clone(), 1e-3, 0.0), None);
        values.fill(f64::NAN);
        let text = of(values, 1e-3, 0.0).unwrap().to_string();
        assert!(text.contains("1000 of the 1000 elements"), "{text}");
        // A mask of infinities is a value like any other.
        let mut masked = numbers(1000, 1.0);
        masked[..950].fill(f64::NEG_INFINITY);
        assert_eq!(of(masked, 1e-3, 0.0), None);
    }
}
