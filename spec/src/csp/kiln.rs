//! Functions with the semantics of Kiln's specs. They use the arithmetic of the expression evaluator.

use super::function::Function;
use super::value::{Outcome, Value};
use crate::expr::BinaryOp;
use crate::expr::arithmetic::{self, IntResult};

/// Applies a function. `None` if the function has no value for these arguments.
pub(super) fn apply(function: Function, arguments: &[Outcome]) -> Outcome {
    match (function, arguments) {
        (Function::Neg, [x]) => int(*x)?.checked_neg().map(Value::Int),
        (Function::Not, [x]) => Some(Value::Bool(!bool(*x)?)),
        (Function::Truth, [x]) => bool(*x).map(Value::Bool),
        (Function::NextPowerOfTwo, [x]) => {
            let power = arithmetic::next_power_of_two(int(*x)?).ok()?;
            Some(Value::Int(power))
        }
        (Function::And, [x, y]) => Some(Value::Bool(bool(*x)? && bool(*y)?)),
        (Function::Or, [x, y]) => Some(Value::Bool(bool(*x)? || bool(*y)?)),
        (Function::Min | Function::Max | Function::DivCeil, [x, y]) => {
            let function = match function {
                Function::Min => crate::expr::BuiltinFunction::Min,
                Function::Max => crate::expr::BuiltinFunction::Max,
                _ => crate::expr::BuiltinFunction::DivCeil,
            };
            let result = arithmetic::call_pair(function, int(*x)?, int(*y)?);
            result.ok().map(Value::Int)
        }
        (_, [x, y]) => binary(operator(function)?, (*x)?, (*y)?),
        _ => None,
    }
}

fn binary(op: BinaryOp, x: Value, y: Value) -> Outcome {
    match (x, y) {
        (Value::Int(x), Value::Int(y)) => Some(match arithmetic::integers(op, x, y).ok()? {
            IntResult::Int(x) => Value::Int(x),
            IntResult::Bool(x) => Value::Bool(x),
        }),
        (Value::Bool(_), Value::Bool(_)) | (Value::Name(_), Value::Name(_)) => match op {
            BinaryOp::Eq => Some(Value::Bool(x == y)),
            BinaryOp::Ne => Some(Value::Bool(x != y)),
            _ => None,
        },
        _ => None,
    }
}

/// The operator of the expression language that computes a function; `None` if the language does not have one.
fn operator(function: Function) -> Option<BinaryOp> {
    Some(match function {
        Function::Add => BinaryOp::Add,
        Function::Sub => BinaryOp::Sub,
        Function::Mul => BinaryOp::Mul,
        Function::TruncDiv => BinaryOp::Div,
        Function::TruncRem => BinaryOp::Rem,
        Function::Shl => BinaryOp::Shl,
        Function::Shr => BinaryOp::Shr,
        Function::Eq => BinaryOp::Eq,
        Function::Ne => BinaryOp::Ne,
        Function::Lt => BinaryOp::Lt,
        Function::Le => BinaryOp::Le,
        Function::Gt => BinaryOp::Gt,
        Function::Ge => BinaryOp::Ge,
        _ => return None,
    })
}

fn int(x: Outcome) -> Option<i128> {
    match x {
        Some(Value::Int(x)) => Some(x),
        _ => None,
    }
}

fn bool(x: Outcome) -> Option<bool> {
    match x {
        Some(Value::Bool(x)) => Some(x),
        _ => None,
    }
}
