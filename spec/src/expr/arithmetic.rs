//! Exact integer arithmetic, shared by the evaluator and the constraint models of search spaces.

use super::{BinaryOp, BuiltinFunction};

/// The reason why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArithmeticFault {
    /// The result does not fit 128 bits.
    Overflow,
    /// The operation divides by zero, or computes a remainder by zero.
    DivisionByZero,
    /// The arguments are outside the function's domain. The text describes what the function requires.
    Domain(&'static str),
    /// An operand has the wrong kind.
    Kind,
}

/// The result of an operation on two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntResult {
    Int(i128),
    Bool(bool),
}

/// The largest number of bits by which `<<` and `>>` shift. Two to the power of this number fits a 64-bit integer.
pub const MAX_SHIFT: i128 = 62;

/// The result of `x op y` on integers.
pub(crate) fn integers(op: BinaryOp, x: i128, y: i128) -> Result<IntResult, ArithmeticFault> {
    let result = match op {
        BinaryOp::Add => x.checked_add(y),
        BinaryOp::Sub => x.checked_sub(y),
        BinaryOp::Mul => x.checked_mul(y),
        BinaryOp::Div | BinaryOp::Rem if y == 0 => return Err(ArithmeticFault::DivisionByZero),
        BinaryOp::Div => x.checked_div(y),
        BinaryOp::Rem => x.checked_rem(y),
        BinaryOp::Shl | BinaryOp::Shr if !(0..=MAX_SHIFT).contains(&y) => {
            return Err(ArithmeticFault::Domain("a shift is by 0 to 62 bits"));
        }
        BinaryOp::Shl => x.checked_mul(1 << y),
        BinaryOp::Shr => Some(x >> y),
        BinaryOp::Eq => return Ok(IntResult::Bool(x == y)),
        BinaryOp::Ne => return Ok(IntResult::Bool(x != y)),
        BinaryOp::Lt => return Ok(IntResult::Bool(x < y)),
        BinaryOp::Le => return Ok(IntResult::Bool(x <= y)),
        BinaryOp::Gt => return Ok(IntResult::Bool(x > y)),
        BinaryOp::Ge => return Ok(IntResult::Bool(x >= y)),
        BinaryOp::And | BinaryOp::Or => return Err(ArithmeticFault::Kind),
    };
    result.map(IntResult::Int).ok_or(ArithmeticFault::Overflow)
}

/// The result of a function of two integers. For more arguments, the caller applies it repeatedly.
pub(crate) fn call_pair(
    function: BuiltinFunction,
    x: i128,
    y: i128,
) -> Result<i128, ArithmeticFault> {
    match function {
        BuiltinFunction::Min => Ok(x.min(y)),
        BuiltinFunction::Max => Ok(x.max(y)),
        BuiltinFunction::DivCeil if y == 0 => Err(ArithmeticFault::DivisionByZero),
        BuiltinFunction::DivCeil if x < 0 || y < 0 => Err(ArithmeticFault::Domain(
            "div_ceil takes non-negative integers",
        )),
        BuiltinFunction::DivCeil => Ok(x / y + i128::from(x % y != 0)),
        BuiltinFunction::NextPowerOfTwo | BuiltinFunction::SizeOf => {
            Err(ArithmeticFault::Domain("wrong number of arguments"))
        }
    }
}

/// The smallest power of two that is not less than `x`.
pub(crate) fn next_power_of_two(x: i128) -> Result<i128, ArithmeticFault> {
    if x < 1 {
        return Err(ArithmeticFault::Domain(
            "next_power_of_two takes a positive integer",
        ));
    }
    (x as u128)
        .checked_next_power_of_two()
        .and_then(|power| i128::try_from(power).ok())
        .ok_or(ArithmeticFault::Overflow)
}
