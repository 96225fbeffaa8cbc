//! The values of scalars with a `#[value(..)]`. A config could be right for the declared value alone, so verification
//! also passes others: the seed of the inputs says which.

use kiln_spec::model::PlainNumber;
use kiln_spec::{ArgSpec, ElemType, KernelSpec, Passing, Problem, ScalarValue};

/// The bit of a seed with which scalars that are 0 or 1 have another value, and inputs have unusual ones. The kernel need
/// not support them.
pub const UNUSUAL: u64 = 1 << 63;

/// The factor of varied scalars. It is below 1, because a value may be a probability or another upper limit.
const VARIED: f64 = 0.875;

/// The value of a scalar with inputs of this seed:
///
/// - With an odd seed, a floating-point number is 7/8 of the declared one. Zero stays zero, because a kernel may treat
///   zero as a special case in which it reads less.
/// - With [`UNUSUAL`] in the seed, an integer that is declared as 0 is 1, and one that is declared as 1 is 0. A
///   floating-point zero is 7/8 if the seed is also odd.
pub(super) fn of_seed(value: ScalarValue, is_integer: bool, seed: u64) -> ScalarValue {
    let is_unusual = seed & UNUSUAL != 0;
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
        false => number * VARIED,
    })
}

/// Whether values of this element type are integers.
pub(super) fn is_integer(ty: ElemType) -> bool {
    ty.integer_range().is_some()
}

/// The scalars of a kernel that have another value with this seed than the declared one, as text such as
/// `beta = 0.875 instead of 0`.
pub fn changes(spec: &KernelSpec, problem: &Problem, seed: u64) -> Vec<String> {
    let declared = spec
        .args
        .iter()
        .flat_map(|arg| declared(spec, problem, arg));
    let changes = declared.filter_map(|(name, value, is_integer)| {
        let (value, other) = (text(value), text(of_seed(value, is_integer, seed)));
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

/// The declared values of an argument, with its name and whether they are integers.
fn declared<'s>(
    spec: &KernelSpec,
    problem: &Problem,
    arg: &'s ArgSpec,
) -> Vec<(&'s str, ScalarValue, bool)> {
    match arg {
        ArgSpec::Scalar(scalar) if matches!(scalar.passing, Passing::Computed(_)) => Vec::new(),
        ArgSpec::Scalar(scalar) => {
            let value = scalar.value.into_iter();
            value
                .map(|value| (&*scalar.name, value, scalar.ty.is_integer()))
                .collect()
        }
        ArgSpec::Typed(typed) => {
            let ty = spec.type_of(&typed.ty, problem).unwrap_or(ElemType::F32);
            vec![(&typed.name, typed.value, is_integer(ty))]
        }
        ArgSpec::Plain(plain) => {
            let numbers = plain.value.numbers().into_iter();
            let numbers = numbers.filter_map(|(_, ty, number)| match number {
                PlainNumber::Value(value) => Some((&*plain.name, *value, ty.is_integer())),
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
        for seed in [even, odd] {
            assert_eq!(of_seed(Int(1), true, seed), Int(1));
            assert_eq!(of_seed(Int(0), true, seed), Int(0));
        }
        assert_eq!(of_seed(Int(1), true, even | UNUSUAL), Int(0));
        assert_eq!(of_seed(Int(0), true, odd | UNUSUAL), Int(1));
        assert_eq!(of_seed(Int(7), true, odd | UNUSUAL), Int(7));
        assert_eq!(of_seed(Float(2.0), false, even), Float(2.0));
        assert_eq!(of_seed(Float(2.0), false, odd), Float(1.75));
        assert_eq!(of_seed(Int(2), false, odd | UNUSUAL), Float(1.75));
        assert_eq!(of_seed(Float(0.0), false, odd), Float(0.0));
        assert_eq!(of_seed(Int(0), false, odd | UNUSUAL), Float(0.875));
    }
}
