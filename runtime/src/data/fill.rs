//! Generates inputs from a seed. The same seed gives the same inputs on every machine and device.

use kiln_spec::expr::evaluate_int;
use kiln_spec::{ElemType, EvalError, Fill, Problem, SliceArg};
use thiserror::Error;

use crate::data::element::{Element, for_elem_type};
use crate::data::random::{RandomWords, made};
use crate::data::unusual;

/// The reason why an input cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FillError {
    /// The bound of `below(..)` cannot be evaluated.
    #[error("`#[fill(..)]` of `{argument}`: {error}")]
    Eval {
        /// The name of the argument.
        argument: String,
        /// The reason why the bound cannot be evaluated.
        error: EvalError,
    },
    /// The bound of `below(..)` is not positive, or it exceeds the range of the element type.
    #[error("`#[fill(below(..))]` of `{argument}` is {bound}, which is not a bound for {ty}")]
    Bound {
        /// The name of the argument.
        argument: String,
        /// The value of the bound.
        bound: i128,
        /// The element type of the argument.
        ty: ElemType,
    },
    /// The range of `uniform(..)` contains no value of the element type.
    #[error("`#[fill(uniform({low}, {high}))]` of `{argument}` has no values of {ty}")]
    Empty {
        /// The name of the argument.
        argument: String,
        /// The lower bound, as text.
        low: String,
        /// The upper bound, as text.
        high: String,
        /// The element type of the argument.
        ty: ElemType,
    },
}

/// The bytes of a slice of `len` elements, with the values that its `#[fill(..)]` declares. Bits of the seed select
/// unusual values ([`unusual`]).
///
/// # Errors
/// If the bound of `below(..)` cannot be evaluated or is out of range, or if `uniform(..)` contains no value of the
/// element type.
pub fn fill(
    slice: &SliceArg,
    ty: ElemType,
    len: usize,
    problem: &Problem,
    seed: u64,
) -> Result<Vec<u8>, FillError> {
    let random = RandomWords::new(seed, &slice.name);
    let is_unusual = unusual::varies(slice, ty, seed);
    let range = range_of(slice, &slice.fill, ty, problem)?;
    for_elem_type!(ty, T => Ok(match range {
        _ if is_unusual => {
            let shape = (len, unusual::row_of(problem, len));
            unusual_values::<T>(slice, range, shape, &random, seed)
        }
        Range::Real(low, high) => random.real::<T>(low, high, len),
        Range::Whole(first, end) => random.whole::<T>(first, end, len),
        Range::One(value) => {
            let value = T::from_f64(value);
            made(len, |_| move |_| value)
        }
        Range::Indices => made(len, |_| |index| T::from_f64(index as f64)),
    }))
}

/// The values of a fill for one element type.
#[derive(Clone, Copy, Debug)]
enum Range {
    /// Real numbers from the first number on, up to but not including the second.
    Real(f64, f64),
    /// Integers, likewise.
    Whole(i128, i128),
    /// One number.
    One(f64),
    /// The index of each element.
    Indices,
}

fn range_of(
    slice: &SliceArg,
    declared: &Fill,
    ty: ElemType,
    problem: &Problem,
) -> Result<Range, FillError> {
    Ok(match declared {
        Fill::Uniform { low, high } => uniform(slice, *low, *high, ty)?,
        Fill::Below(bound) => Range::Whole(0, below_bound(slice, bound, ty, problem)?),
        Fill::Constant(value) => Range::One(*value),
        Fill::Iota => Range::Indices,
        Fill::ByType => range_of(slice, &Fill::default_of(ty), ty, problem)?,
    })
}

/// The bytes of the elements of a slice that has unusual values with this seed. `shape` is their number and that of a row.
fn unusual_values<T: Element>(
    slice: &SliceArg,
    range: Range,
    shape: (usize, usize),
    random: &RandomWords,
    seed: u64,
) -> Vec<u8> {
    let has_default = slice.fill == Fill::ByType;
    let has = |kind| seed & kind != 0;
    match range {
        Range::One(value) => random.each(shape, |at| unusual::near::<T>(value, at)),
        Range::Indices => made(shape.0, |_| |index| T::from_f64(index as f64)),
        Range::Whole(first, end) if has(unusual::LAST) => {
            random.each(shape, |at| unusual::last_whole::<T>(first, end, at))
        }
        Range::Real(low, high) if has(unusual::LAST) => {
            random.each(shape, |at| unusual::last_real::<T>(low, high, at))
        }
        Range::Whole(..) if has(unusual::BITS) => random.each(shape, unusual::bits::<T>),
        Range::Whole(..) if has_default => random.each(shape, unusual::integer::<T>),
        Range::Real(..) if has(unusual::LARGE) => random.each(shape, unusual::large::<T>),
        Range::Whole(first, end) => random.each(shape, |at| unusual::whole::<T>(first, end, at)),
        Range::Real(low, high) => random.each(shape, |at| unusual::real::<T>(low, high, at)),
    }
}

fn below_bound(
    slice: &SliceArg,
    bound: &kiln_spec::Expr,
    ty: ElemType,
    problem: &Problem,
) -> Result<i128, FillError> {
    let bound = evaluate_int(bound, problem).map_err(|error| FillError::Eval {
        argument: slice.name.clone(),
        error,
    })?;
    match i64::try_from(bound) {
        Ok(whole) if whole > 0 && bound - 1 <= largest_whole(ty) => Ok(whole.into()),
        _ => Err(FillError::Bound {
            argument: slice.name.clone(),
            bound,
            ty,
        }),
    }
}

/// The largest integer up to which a type can represent every integer.
fn largest_whole(ty: ElemType) -> i128 {
    match ty {
        ElemType::F64 => 1 << 53,
        ElemType::F32 => 1 << 24,
        ElemType::F16 => 1 << 11,
        ElemType::Bf16 => 1 << 8,
        integer => integer.integer_range().map_or(0, |(_, largest)| largest),
    }
}

fn uniform(slice: &SliceArg, low: f64, high: f64, ty: ElemType) -> Result<Range, FillError> {
    let empty = || FillError::Empty {
        argument: slice.name.clone(),
        low: low.to_string(),
        high: high.to_string(),
        ty,
    };
    let Some((least, largest)) = ty.integer_range() else {
        if low.partial_cmp(&high) != Some(std::cmp::Ordering::Less) {
            return Err(empty());
        }
        return Ok(Range::Real(low, high));
    };
    let (first, end) = (low.ceil() as i128, high.ceil() as i128);
    if first >= end || first < least || end - 1 > largest {
        return Err(empty());
    }
    Ok(Range::Whole(first, end))
}

#[cfg(test)]
mod tests {
    use kiln_spec::{Access, ElemRef, Expr, ProblemValue};

    use super::*;

    fn slice(name: &str, fill: Fill) -> SliceArg {
        SliceArg {
            name: name.into(),
            elem: ElemRef::Fixed(ElemType::F32),
            access: Access::In,
            len: Expr::Int(8),
            fill,
            align: None,
            tolerance: None,
            compare: None,
            constant: None,
        }
    }

    fn problem() -> Problem {
        Problem::new([("n".into(), ProblemValue::Size(100))])
    }

    fn values<T: Element>(fill_as: Fill, len: usize, seed: u64) -> Vec<T> {
        let bytes = fill(&slice("a", fill_as), T::TYPE, len, &problem(), seed).unwrap();
        bytemuck::pod_collect_to_vec(&bytes)
    }

    #[test]
    fn the_same_seed_and_argument_give_the_same_input_and_others_do_not() {
        let uniform = Fill::Uniform {
            low: -1.0,
            high: 1.0,
        };
        let first: Vec<f32> = values(uniform.clone(), 1000, 1);
        assert_eq!(first, values::<f32>(uniform.clone(), 1000, 1));
        assert_ne!(first, values::<f32>(uniform.clone(), 1000, 2));
        let other = fill(&slice("b", uniform), ElemType::F32, 1000, &problem(), 1).unwrap();
        assert_ne!(bytemuck::cast_slice::<f32, u8>(&first), other);
    }

    #[test]
    fn unusual_seeds_change_the_inputs_of_their_kind_and_stay_in_a_declared_range() {
        let in_range = Fill::Uniform {
            low: 0.25,
            high: 0.5,
        };
        for seed in unusual::INPUTS {
            let declared: Vec<f32> = values(in_range.clone(), 800, seed);
            assert!(declared.iter().all(|value| (0.25..0.5).contains(value)));
            let least = declared.iter().filter(|value| **value == 0.25).count();
            // The second half of the rows are least numbers, except for the last of each.
            let has_least = seed == unusual::FLOATS || seed == unusual::LAST;
            assert_eq!(least > 100, has_least);
            let constant: Vec<f32> = values(Fill::Constant(3.0), 800, seed);
            assert!(constant.iter().all(|value| (2.0..4.0).contains(value)));
            assert_eq!(constant.contains(&2.5), seed == unusual::CONSTANTS);
            let constant: Vec<i32> = values(Fill::Constant(3.0), 800, seed);
            assert!(constant.iter().all(|value| (3..6).contains(value)));
            assert_eq!(constant.contains(&5), seed == unusual::CONSTANTS);
            let floats: Vec<f32> = values(Fill::ByType, 800, seed);
            assert_eq!(floats.contains(&0.0), seed == unusual::FLOATS);
            assert_eq!(
                floats.iter().any(|value| *value > 8.0),
                seed == unusual::LARGE
            );
            let whole: Vec<i32> = values(Fill::ByType, 800, seed);
            let most = whole.iter().copied().max().unwrap_or(0);
            assert_eq!(
                most > 800,
                seed == unusual::INTEGERS || seed == unusual::BITS
            );
            assert_eq!(most > 1_000_000, seed == unusual::BITS);
            let labels: Vec<f32> = values(Fill::Below(Expr::Int(100)), 800, seed);
            assert!(
                labels
                    .iter()
                    .all(|value| value.fract() == 0.0 && *value < 100.0)
            );
            let most = labels.iter().filter(|value| **value == 99.0).count();
            assert_eq!(most > 100, seed == unusual::FLOATS);
            let below: Vec<u32> = values(Fill::Below(Expr::Int(100)), 800, seed);
            assert!(below.iter().all(|value| *value < 100));
            let most = below.iter().filter(|value| **value == 99).count();
            assert_eq!(most > 100, seed == unusual::INTEGERS);
        }
    }

    #[test]
    fn a_long_input_begins_as_a_short_one_does() {
        for (fill_as, len) in [
            (
                Fill::Uniform {
                    low: 0.0,
                    high: 1.0,
                },
                700_000,
            ),
            (Fill::Iota, 600_001),
        ] {
            let long: Vec<f64> = values(fill_as.clone(), len, 3);
            for part in [1, 1000, 262_144, 262_145, 524_289] {
                let short: Vec<f64> = values(fill_as.clone(), part, 3);
                assert!(long[..part] == short, "{fill_as:?} {part}");
            }
        }
        let below = Fill::Below(Expr::Int(1 << 40));
        let long: Vec<i64> = values(below.clone(), 600_000, 3);
        assert!(long[..300_000] == values::<i64>(below, 300_000, 3));
    }

    #[test]
    fn uniform_stays_inside_its_bounds_and_fills_them_in_every_type() {
        fn check<T: Element>(low: f64, high: f64) {
            let values: Vec<T> = values(Fill::Uniform { low, high }, 20_000, 7);
            let (mut least, mut most) = (f64::MAX, f64::MIN);
            for value in values {
                assert!((low..high).contains(&value.to_f64()), "{value:?}");
                least = least.min(value.to_f64());
                most = most.max(value.to_f64());
            }
            let near = (high - low) / 50.0 + 1.0;
            assert!(least <= low + near && most >= high - 1.0 - near);
        }
        check::<f32>(-1.0, 1.0);
        check::<half::f16>(-2.0, 3.0);
        check::<half::bf16>(0.0, 1.0);
        check::<i32>(-5.0, 6.0);
        check::<u8>(0.0, 256.0);
        check::<u32>(3.0, 9.0);
        check::<f64>(-1.0, 1.0);
        check::<i64>(-5.0, 6.0);
        check::<u64>(3.0, 9.0);
        check::<i16>(-32768.0, 32768.0);
        check::<u16>(0.0, 65536.0);
        check::<i8>(-128.0, 128.0);
    }

    #[test]
    fn every_bit_of_a_64_bit_input_is_random() {
        let all = |high: f64| Fill::Uniform {
            low: if high > 1e19 { 0.0 } else { -high },
            high,
        };
        let both = |words: Vec<u64>| {
            let (ones, zeros) = words
                .iter()
                .fold((0, 0), |(ones, zeros), word| (ones | word, zeros | !word));
            assert_eq!((ones, zeros), (u64::MAX, u64::MAX));
        };
        both(values::<u64>(all(2.0_f64.powi(64)), 1000, 5));
        let signed: Vec<i64> = values(all(2.0_f64.powi(63)), 1000, 5);
        both(bytemuck::cast_vec(signed));
        // None of these values can be represented as `f32`, so a kernel that computes in `float` is detected.
        let doubles: Vec<f64> = values(all(1.0), 1000, 5);
        let narrow = doubles.iter().filter(|x| f64::from(**x as f32) == **x);
        assert!(narrow.count() < 10);
    }

    #[test]
    fn below_gives_every_whole_number_under_the_bound() {
        let mut seen: Vec<i32> = values(Fill::Below(Expr::Name("n".into())), 5000, 3);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn iota_and_constant_are_what_they_say() {
        assert_eq!(values::<i32>(Fill::Iota, 4, 0), [0, 1, 2, 3]);
        assert_eq!(values::<f32>(Fill::Constant(2.5), 2, 0), [2.5, 2.5]);
    }

    #[test]
    fn the_default_depends_on_the_element_type_of_the_launch() {
        let floats = values::<f32>(Fill::ByType, 1000, 3);
        assert!(floats.iter().any(|x| *x < 0.0) && floats.iter().all(|x| x.abs() <= 1.0));
        let integers = values::<i32>(Fill::ByType, 1000, 3);
        assert!(integers.iter().all(|x| (0..16).contains(x)));
    }

    #[test]
    fn a_declaration_without_values_is_an_error() {
        let below = slice("a", Fill::Below(Expr::Int(0)));
        assert!(fill(&below, ElemType::I32, 1, &problem(), 0).is_err());
        let below = slice("a", Fill::Below(Expr::Int(1000)));
        assert!(fill(&below, ElemType::U8, 1, &problem(), 0).is_err());
        let negative = slice(
            "a",
            Fill::Uniform {
                low: -1.0,
                high: 1.0,
            },
        );
        assert!(fill(&negative, ElemType::U32, 1, &problem(), 0).is_err());
    }
}
