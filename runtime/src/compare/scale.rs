//! The scale of an output: the magnitude to which the tolerance of its small elements is relative.
//!
//! The rounding errors of a sum depend on the magnitudes that are added, not on their sum. An element that is small
//! because its terms cancel may therefore have the error of a large one. The root mean square of the output is the
//! usual estimate of these magnitudes. A few huge elements dominate it, for example a sentinel such as `FLT_MAX`, or
//! the largest of values that differ by orders of magnitude. The scale is therefore at most [`OF_SMALLER_HALF`] times the
//! root mean square of the smaller half of the elements.
//!
//! A limit that follows from fewer elements would refuse right kernels: a third of the values of GELU are tails, which
//! `x / 2 * (1 + erf(..))` computes with the error of the 1.

use crate::parallel;

/// Upper limit of the scale, as a multiple of the root mean square of the smaller half of the elements. For normally
/// distributed elements, this limit is 1.5 times the root mean square of all.
const OF_SMALLER_HALF: f64 = 4.0;
/// Of fewer elements than this, none can be called unusual.
const MIN_ELEMENTS: usize = 3;
/// If more than one in 32 elements have the same magnitude, it is a constant such as a sentinel or a padding.
const OFTEN: usize = 32;

/// Number of elements from which the limit is computed.
const SAMPLE: usize = 1 << 13;

/// The scale of an output with `len` elements that `value` returns.
pub(super) fn scale(len: usize, value: impl Fn(usize) -> f64 + Sync) -> f64 {
    let most = most_of(sample(len, &value));
    let mean = root_mean_square(len, value);
    // The squares of large doubles overflow.
    let mean = if mean.is_finite() { mean } else { 0.0 };
    match most {
        Some(most) if mean > 0.0 => mean.min(most),
        Some(most) => most,
        None => mean,
    }
}

/// The largest scale that these magnitudes justify; `None` if they are too few to say.
fn most_of(mut magnitudes: Vec<f64>) -> Option<f64> {
    magnitudes.sort_unstable_by(f64::total_cmp);
    let magnitudes = without_constants(&magnitudes);
    if magnitudes.len() < MIN_ELEMENTS {
        return None;
    }
    let half = &magnitudes[..magnitudes.len().div_ceil(2)];
    Some(OF_SMALLER_HALF * root_mean_square(half.len(), |index| half[index]))
}

/// Sorted magnitudes, of which each that occurs often, as a sentinel or a padding does, is kept once.
fn without_constants(sorted: &[f64]) -> Vec<f64> {
    let often = sorted.len() / OFTEN;
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.flat_map(|run| if run.len() > often { &run[..1] } else { run })
        .copied()
        .collect()
}

/// The magnitudes of finite elements other than zero, of all elements or of a sample. The sample follows the multiples
/// of the golden ratio, so it is not in step with the rows of a matrix.
fn sample(len: usize, value: &(impl Fn(usize) -> f64 + Sync)) -> Vec<f64> {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let place = |nth: usize| {
        if len <= SAMPLE {
            return nth;
        }
        let fraction = u128::from((nth as u64).wrapping_mul(GOLDEN));
        ((fraction * len as u128) >> 64) as usize
    };
    (0..len.min(SAMPLE))
        .map(|nth| value(place(nth)).abs())
        .filter(|magnitude| *magnitude > 0.0 && magnitude.is_finite())
        .collect()
}

/// The root mean square of the finite values among the `len` values that `value` returns.
fn root_mean_square(len: usize, value: impl Fn(usize) -> f64 + Sync) -> f64 {
    let add = |(sum, count): (f64, u64), value: f64| (sum + value * value, count + 1);
    let parts = parallel::ranges(len, |range| {
        let finite = range.map(&value).filter(|value| value.is_finite());
        finite.fold((0.0, 0), add)
    });
    let both = |(sum, count), (part, of)| (sum + part, count + of);
    let (sum, count) = parts.into_iter().fold((0.0, 0), both);
    if count == 0 {
        0.0
    } else {
        (sum / count as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> f64 {
        scale(values.len(), |index| values[index])
    }

    /// Sums of twelve uniform values, which are almost normally distributed. Their root mean square is 1.
    fn normal(len: usize) -> Vec<f64> {
        let mut state = 1_u64;
        let mut uniform = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        (0..len)
            .map(|_| (0..12).map(|_| uniform() - 0.5).sum())
            .collect()
    }

    #[test]
    fn the_scale_of_ordinary_values_is_their_root_mean_square() {
        for len in [1, 2, 3, 7, 31, 32, 64, 1000, 200_000] {
            for values in [normal(len), normal(len).iter().map(|x| x.abs()).collect()] {
                let mean = root_mean_square(len, |index| values[index]);
                let (found, least) = (of(&values), if len < 7 { 0.05 } else { 0.5 });
                assert!(
                    found <= mean && found >= least * mean,
                    "{len}: {found} of {mean}"
                );
            }
        }
    }

    #[test]
    fn no_minority_of_huge_values_changes_the_scale_of_the_others() {
        for len in [8, 40, 1000, 200_000] {
            for share in [3, 4, 10] {
                let mut values = normal(len);
                for value in values.iter_mut().step_by(share) {
                    *value *= 1e30;
                }
                let found = of(&values);
                assert!(found < 100.0, "{len}, 1 in {share}: {found}");
            }
        }
    }

    #[test]
    fn a_sentinel_may_be_in_most_elements() {
        let mut values = vec![f64::from(f32::MAX); 10_000];
        values[..600].copy_from_slice(&normal(600));
        let found = of(&values);
        assert!((0.1..100.0).contains(&found), "{found}");
        // Matrix with a sentinel on its diagonal, and the same value at (i, j) and (j, i).
        let small = [1e38, 1.0, 2.0, 1.0, 1e38, 3.0, 2.0, 3.0, 1e38];
        assert!(of(&small) < 10.0, "{}", of(&small));
    }

    #[test]
    fn the_largest_of_values_of_all_magnitudes_do_not_set_the_scale() {
        let values: Vec<f64> = (0..10_000)
            .map(|i| (f64::from(i) * 0.008 - 40.0).exp())
            .collect();
        // Their root mean square is 2e16.
        assert!(of(&values) < 1.0, "{}", of(&values));
    }

    #[test]
    fn the_tail_of_gelu_has_the_scale_of_a_tenth_at_least() {
        let gelu = |x: f64| 0.5 * x * (1.0 + (0.797_885 * (x + 0.044_715 * x.powi(3))).tanh());
        let values: Vec<f64> = (0..10_000)
            .map(|i| gelu(f64::from(i) * 0.0016 - 8.0))
            .collect();
        assert!(of(&values) > 0.1, "{}", of(&values));
    }

    #[test]
    fn zeros_infinities_and_overflow_leave_a_scale() {
        let mut values = normal(100);
        values.extend([0.0; 1000]);
        assert!((0.1..1.1).contains(&of(&values)));
        values.extend([f64::INFINITY, f64::NAN]);
        assert!((0.1..1.1).contains(&of(&values)));
        values.push(f64::MAX);
        assert!((0.1..100.0).contains(&of(&values)));
        assert_eq!(of(&[f64::MAX, f64::MAX]), 0.0);
        assert_eq!(of(&[0.0; 5]), 0.0);
        assert_eq!(of(&[]), 0.0);
    }
}
