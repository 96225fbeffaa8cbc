//! The values of scalars with a `#[value(..)]`. A config could be right for the declared value alone, so verification
//! also passes others: the seed of the inputs says which.

use kiln_spec::model::PlainNumber;
use kiln_spec::{ArgSpec, ElemType, KernelSpec, Passing, Problem, ScalarValue};

use crate::data::unusual;

/// The factor of varied scalars. It is below 1, because a value may be a probability or another upper limit.
const VARIED: f64 = 0.875;

/// The factors of the numbers of a kernel, in their order and repeated. They differ, because a config may take one number
/// for another.
const FACTORS: [f64; 6] = [VARIED, 0.8125, 0.9375, 0.75, 0.84375, 0.6875];

/// The value of the number with index `nth` among those of a kernel, with inputs of this seed:
///
/// - With an odd seed, a floating-point number is the declared one times one of [`FACTORS`]. Zero stays zero, because a
///   kernel may treat zero as a special case in which it reads less.
/// - With [`unusual::SCALARS`] in the seed, an integer that is declared as 0 is 1, and one that is declared as 1 is 0. A
///   floating-point zero is 7/8 if the seed is also odd.
pub(super) fn of_seed(
    value: ScalarValue,
    is_integer: bool,
    (seed, nth): (u64, usize),
) -> ScalarValue {
    let is_unusual = seed & unusual::SCALARS != 0;
    let number = match value {
        ScalarValue::Int(whole @ (0 | 1)) if is_integer && is_unusual => {
            return ScalarValue::Int(1 - whole);
        }
        value if is_integer || seed.is_multiple_of(2) => return value,
        ScalarValue::Int(whole) => whole as f64,
        ScalarValue::Float(number) => number,
    };
    ScalarValue::Float(match number == 0.0 && is_unusual {
        true => VARIED,
        false => number * FACTORS[nth % FACTORS.len()],
    })
}

/// The index of the first number of each argument among the numbers of a kernel.
pub(super) fn first_indices(spec: &KernelSpec) -> impl Iterator<Item = usize> {
    let mut next = 0;
    spec.args.iter().map(move |arg| {
        let first = next;
        next += match arg {
            ArgSpec::Scalar(scalar) => usize::from(scalar.value.is_some()),
            ArgSpec::Typed(_) => 1,
            ArgSpec::Plain(plain) => plain.value.numbers().len(),
            ArgSpec::Slice(_) => 0,
        };
        first
    })
}

/// Whether values of this element type are integers.
pub(super) fn is_integer(ty: ElemType) -> bool {
    ty.integer_range().is_some()
}

/// The scalars of a kernel that have another value with this seed than the declared one, as text such as
/// `beta = 0.875 instead of 0`.
pub fn changes(spec: &KernelSpec, problem: &Problem, seed: u64) -> Vec<String> {
    let args = spec.args.iter().zip(first_indices(spec));
    let declared = args.flat_map(|(arg, first)| {
        let numbers = declared(spec, problem, arg).into_iter();
        numbers.map(move |(at, number)| (first + at, number))
    });
    let changes = declared.filter_map(|(nth, (name, value, is_integer))| {
        let (value, other) = (text(value), text(of_seed(value, is_integer, (seed, nth))));
        (other != value).then(|| format!("{name} = {other} instead of {value}"))
    });
    changes.collect()
}

fn text(value: ScalarValue) -> String {
    match value {
        ScalarValue::Int(whole) => whole.to_string(),
        ScalarValue::Float(number) => number.to_string(),
    }
}

/// A declared value, with the name of its argument and whether it is an integer.
type Declared<'s> = (&'s str, ScalarValue, bool);

/// The declared values of an argument, with their index among its numbers.
fn declared<'s>(
    spec: &KernelSpec,
    problem: &Problem,
    arg: &'s ArgSpec,
) -> Vec<(usize, Declared<'s>)> {
    match arg {
        ArgSpec::Scalar(scalar) if matches!(scalar.passing, Passing::Computed(_)) => Vec::new(),
        ArgSpec::Scalar(scalar) => {
            let value = scalar.value.into_iter();
            value
                .map(|value| (0, (&*scalar.name, value, scalar.ty.is_integer())))
                .collect()
        }
        ArgSpec::Typed(typed) => {
            let ty = spec.type_of(&typed.ty, problem).unwrap_or(ElemType::F32);
            vec![(0, (&*typed.name, typed.value, is_integer(ty)))]
        }
        ArgSpec::Plain(plain) => {
            let numbers = plain.value.numbers().into_iter().enumerate();
            let numbers = numbers.filter_map(|(at, (_, ty, number))| match number {
                PlainNumber::Value(value) => Some((at, (&*plain.name, *value, ty.is_integer()))),
                PlainNumber::Size(_) => None,
            });
            numbers.collect()
        }
        ArgSpec::Slice(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_which_values_scalars_have() {
        use ScalarValue::{Float, Int};
        let even = 6;
        let odd = 7;
        let value = |value, is_integer, seed| of_seed(value, is_integer, (seed, 0));
        for seed in [even, odd] {
            assert_eq!(value(Int(1), true, seed), Int(1));
            assert_eq!(value(Int(0), true, seed), Int(0));
        }
        let unusual = unusual::SCALARS;
        assert_eq!(value(Int(1), true, even | unusual), Int(0));
        assert_eq!(value(Int(0), true, odd | unusual), Int(1));
        assert_eq!(value(Int(7), true, odd | unusual), Int(7));
        assert_eq!(value(Float(2.0), false, even), Float(2.0));
        assert_eq!(value(Float(2.0), false, odd), Float(1.75));
        assert_eq!(value(Int(2), false, odd | unusual), Float(1.75));
        assert_eq!(value(Float(0.0), false, odd), Float(0.0));
        assert_eq!(value(Int(0), false, odd | unusual), Float(0.875));
        // A config may take one number for another.
        let second = of_seed(Float(2.0), false, (odd, 1));
        assert_ne!(second, value(Float(2.0), false, odd));
    }
}
