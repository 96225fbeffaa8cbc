//! Functions with Python's semantics, on 128-bit integers, doubles, booleans and names.

use std::cmp::Ordering;

use super::function::Function;
use super::value::{Outcome, Value};

/// Every integer up to this magnitude can be represented as a double.
pub(super) const EXACT: i128 = 1 << 53;

/// Applies a function. `None` if Python raises an exception, or if an integer exceeds 128 bits.
pub(super) fn apply(function: Function, arguments: &[Outcome]) -> Outcome {
    match (function, arguments) {
        (Function::Not, [x]) => Some(Value::Bool(!truth((*x)?))),
        (Function::Truth, [x]) => Some(Value::Bool(truth((*x)?))),
        (Function::Neg | Function::Abs, [x]) => sign(function, (*x)?),
        (Function::And, [x, y]) => match (*x)? {
            x if truth(x) => *y,
            x => Some(x),
        },
        (Function::Or, [x, y]) => match (*x)? {
            x if truth(x) => Some(x),
            _ => *y,
        },
        (Function::Select, [x, y, z]) => match truth((*x)?) {
            true => *y,
            false => *z,
        },
        (Function::Eq, [x, y]) => Some(Value::Bool(equal((*x)?, (*y)?))),
        (Function::Ne, [x, y]) => Some(Value::Bool(!equal((*x)?, (*y)?))),
        (Function::Min | Function::Max, [x, y]) => {
            let (x, y) = ((*x)?, (*y)?);
            let wanted = match function {
                Function::Min => Ordering::Less,
                _ => Ordering::Greater,
            };
            Some(if compare(y, x)? == Some(wanted) { y } else { x })
        }
        (Function::Lt | Function::Le | Function::Gt | Function::Ge, [x, y]) => {
            let order = compare((*x)?, (*y)?)?;
            Some(Value::Bool(order.is_some_and(|order| match function {
                Function::Lt => order.is_lt(),
                Function::Le => order.is_le(),
                Function::Gt => order.is_gt(),
                _ => order.is_ge(),
            })))
        }
        (_, [x, y]) => arithmetic(function, number((*x)?)?, number((*y)?)?),
        _ => None,
    }
}

/// The value as an integer or a double, where booleans become integers; `None` if it is a name.
fn number(x: Value) -> Option<Value> {
    match x {
        Value::Bool(x) => Some(Value::Int(x.into())),
        Value::Name(_) => None,
        number => Some(number),
    }
}

fn truth(x: Value) -> bool {
    match x {
        Value::Int(x) => x != 0,
        Value::Float(x) => x != 0.0,
        Value::Bool(x) => x,
        name @ Value::Name(_) => name != Value::EMPTY_NAME,
    }
}

fn sign(function: Function, x: Value) -> Outcome {
    match (function, number(x)?) {
        (Function::Neg, Value::Int(x)) => x.checked_neg().map(Value::Int),
        (Function::Neg, Value::Float(x)) => Some(Value::Float(-x)),
        (_, Value::Int(x)) => x.checked_abs().map(Value::Int),
        (_, Value::Float(x)) => Some(Value::Float(x.abs())),
        _ => None,
    }
}

fn equal(x: Value, y: Value) -> bool {
    match (x, y) {
        (Value::Name(x), Value::Name(y)) => x == y,
        _ => compare(x, y).flatten() == Some(Ordering::Equal),
    }
}

/// The order of two numbers. `None` if one of the values is not a number, `Some(None)` if one of them is NaN.
fn compare(x: Value, y: Value) -> Option<Option<Ordering>> {
    Some(match (number(x)?, number(y)?) {
        (Value::Int(x), Value::Int(y)) => Some(x.cmp(&y)),
        (Value::Int(x), Value::Float(y)) => integer_with_double(x, y),
        (Value::Float(x), Value::Int(y)) => integer_with_double(y, x).map(Ordering::reverse),
        (Value::Float(x), Value::Float(y)) => x.partial_cmp(&y),
        _ => None,
    })
}

/// Compares an integer with a double exactly, as Python does, without rounding the integer to a double first.
fn integer_with_double(x: i128, y: f64) -> Option<Ordering> {
    if y.is_nan() {
        return None;
    }
    // The cast saturates, so infinities and large doubles compare correctly.
    let whole = y.trunc() as i128;
    Some(x.cmp(&whole).then_with(|| match y - y.trunc() {
        _ if y.abs() >= 2f64.powi(127) => 0.0f64.total_cmp(&y),
        rest => 0.0f64.partial_cmp(&rest).unwrap_or(Ordering::Equal),
    }))
}

fn arithmetic(function: Function, x: Value, y: Value) -> Outcome {
    match (x, y) {
        (Value::Int(x), Value::Int(y)) => integers(function, x, y),
        (Value::Int(x), Value::Float(y)) => doubles(function, x as f64, y),
        (Value::Float(x), Value::Int(y)) => doubles(function, x, y as f64),
        (Value::Float(x), Value::Float(y)) => doubles(function, x, y),
        _ => None,
    }
}

fn integers(function: Function, x: i128, y: i128) -> Outcome {
    match function {
        Function::Add => x.checked_add(y),
        Function::Sub => x.checked_sub(y),
        Function::Mul => x.checked_mul(y),
        Function::FloorDiv => floor_div(x, y),
        Function::FloorMod if y == -1 => Some(0),
        Function::FloorMod => floor_mod(x, y),
        Function::Shl => shift_left(x, y),
        Function::Shr if y < 0 => None,
        Function::Shr => Some(x >> y.min(127)),
        Function::TrueDiv => return true_quotient(x, y).map(Value::Float),
        Function::Pow if y < 0 => return power(x as f64, y as f64),
        Function::Pow => match x {
            0 | 1 => Some(if y == 0 { 1 } else { x }),
            -1 => Some(if y % 2 == 0 { 1 } else { -1 }),
            _ => x.checked_pow(u32::try_from(y).ok()?),
        },
        _ => None,
    }
    .map(Value::Int)
}

/// `x` times two to the power of `y`. `None` if `y` is negative or the result does not fit.
fn shift_left(x: i128, y: i128) -> Option<i128> {
    match (x, y) {
        (_, ..0) => None,
        (0, _) => Some(0),
        (_, 0..=126) => x.checked_mul(1 << y),
        _ => None,
    }
}

/// The quotient, rounded down. `None` if `y` is 0.
pub(super) fn floor_div(x: i128, y: i128) -> Option<i128> {
    let quotient = x.checked_div(y)?;
    Some(quotient - i128::from(x % y != 0 && (x < 0) != (y < 0)))
}

/// The remainder of the division that rounds down. It has the divisor's sign. No intermediate result can overflow.
fn floor_mod(x: i128, y: i128) -> Option<i128> {
    let rest = x.checked_rem(y)?;
    let other_sign = rest != 0 && (rest < 0) != (y < 0);
    Some(if other_sign { rest + y } else { rest })
}

/// The double nearest to the exact quotient. `None` if `y` is 0.
fn true_quotient(x: i128, y: i128) -> Option<f64> {
    if y == 0 {
        return None;
    }
    if x.abs_diff(0) <= EXACT as u128 && y.abs_diff(0) <= EXACT as u128 {
        return Some(x as f64 / y as f64);
    }
    Some(long_quotient(
        x.unsigned_abs(),
        y.unsigned_abs(),
        (x < 0) != (y < 0),
    ))
}

/// Divides by long division, one bit at a time, to 64 bits and a sticky bit. The result is rounded only once, by the
/// cast to a double.
fn long_quotient(over: u128, under: u128, negative: bool) -> f64 {
    let mut quotient = over / under;
    let mut rest = over % under;
    let mut exponent = 0;
    while quotient >> 64 == 0 && exponent < 200 {
        let carry = rest >> 127;
        rest <<= 1;
        let fits = carry == 1 || rest >= under;
        if fits {
            rest = rest.wrapping_sub(under);
        }
        quotient = quotient << 1 | u128::from(fits);
        exponent += 1;
    }
    let magnitude = (quotient | u128::from(rest != 0)) as f64 * 2f64.powi(-exponent);
    if negative { -magnitude } else { magnitude }
}

fn doubles(function: Function, x: f64, y: f64) -> Outcome {
    Some(Value::Float(match function {
        Function::Add => x + y,
        Function::Sub => x - y,
        Function::Mul => x * y,
        Function::TrueDiv | Function::FloorDiv | Function::FloorMod if y == 0.0 => return None,
        Function::TrueDiv => x / y,
        Function::FloorDiv => floor_quotient(x, y),
        Function::FloorMod => remainder(x, y),
        Function::Pow => return power(x, y),
        _ => return None,
    }))
}

/// Python's `%` of two doubles. The divisor must not be zero.
pub(super) fn remainder(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest == 0.0 {
        0f64.copysign(y)
    } else if (y < 0.0) != (rest < 0.0) {
        rest + y
    } else {
        rest
    }
}

/// Python's `//` of two doubles. The divisor must not be zero.
pub(super) fn floor_quotient(x: f64, y: f64) -> f64 {
    let rest = x % y;
    let mut quotient = (x - rest) / y;
    if rest != 0.0 && (y < 0.0) != (rest < 0.0) {
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return 0f64.copysign(x / y);
    }
    let floor = quotient.floor();
    if quotient - floor > 0.5 {
        floor + 1.0
    } else {
        floor
    }
}

/// Python's `**` of two doubles. `None` if Python raises an exception (for a negative power of zero, or a result that
/// is too large) or if the result is not real.
fn power(x: f64, y: f64) -> Outcome {
    if (x == 0.0 && y < 0.0) || (x < 0.0 && x.is_finite() && y.is_finite() && y.fract() != 0.0) {
        return None;
    }
    let result = x.powf(y);
    let overflows = result.is_infinite() && x.is_finite() && y.is_finite();
    (!overflows).then_some(Value::Float(result))
}
