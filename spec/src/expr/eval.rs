//! Evaluates expressions with exact, checked arithmetic. If a name or the device is unknown, the truth of a constraint
//! may be unknown too.

use thiserror::Error;

use super::arithmetic::{self, ArithmeticFault, IntResult};
use super::{BinaryOp, BuiltinFunction, Expr, UnaryOp, Value};
use crate::device::limits::{DeviceLimit, DeviceLimits};
use crate::model::ElemType;

/// The reason why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A name has no value in the scope, or no value yet.
    #[error("`{0}` has no value here")]
    Unknown(String),
    /// The expression uses a device limit, but the scope has no device.
    #[error("`device.{}` is not known here", .0.name())]
    UnknownDevice(DeviceLimit),
    /// An operand has the wrong kind.
    #[error("`{expr}`: expected {expected}, found {found}")]
    Kind {
        /// The operation, as text.
        expr: String,
        /// The kind that the operation requires.
        expected: &'static str,
        /// The kind that the operand has.
        found: &'static str,
    },
    /// A result does not fit 128 bits. The text is the operation.
    #[error("`{0}` overflows")]
    Overflow(String),
    /// An operation divides by zero. The text is the operation.
    #[error("`{0}` divides by zero")]
    DivisionByZero(String),
    /// The arguments of a function are outside its domain.
    #[error("`{expr}`: {reason}")]
    Domain {
        /// The function call, as text.
        expr: String,
        /// What the function requires of its arguments.
        reason: &'static str,
    },
}

impl EvalError {
    /// Whether the expression has no value only because a name or the device is not known yet. A constraint with this
    /// error is neither true nor false yet.
    pub fn is_unknown(&self) -> bool {
        matches!(self, EvalError::Unknown(_) | EvalError::UnknownDevice(_))
    }
}

/// A scope, which gives names and device limits their values in an expression.
pub trait Scope {
    /// The value of a parameter, problem size, type parameter or choice. `None` if it is unknown.
    fn value(&self, name: &str) -> Option<Value>;

    /// The limits of the device; `None` if the device is unknown.
    fn device(&self) -> Option<&DeviceLimits> {
        None
    }
}

impl<S: Scope + ?Sized> Scope for &S {
    fn value(&self, name: &str) -> Option<Value> {
        (**self).value(name)
    }

    fn device(&self) -> Option<&DeviceLimits> {
        (**self).device()
    }
}

/// A truth value that may be unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// True for all values of the unknown names.
    True,
    /// False for all values of the unknown names.
    False,
    /// The truth depends on a name or a device that is unknown.
    Unknown,
}

/// The value of an expression.
///
/// # Errors
/// If a name is unknown, if an operand has the wrong kind, or if the arithmetic has no exact result.
pub fn evaluate(expr: &Expr, scope: &dyn Scope) -> Result<Value, EvalError> {
    match expr {
        Expr::Int(x) => Ok(Value::Int(i128::from(*x))),
        Expr::Bool(x) => Ok(Value::Bool(*x)),
        Expr::Name(name) => scope
            .value(name)
            .ok_or_else(|| EvalError::Unknown(name.clone())),
        Expr::Device(limit) => {
            let limits = scope.device().ok_or(EvalError::UnknownDevice(*limit))?;
            Ok(Value::Int(i128::from(limit.of(limits))))
        }
        Expr::Unary(UnaryOp::Not, x) => Ok(Value::Bool(!evaluate_bool(x, scope)?)),
        Expr::Unary(UnaryOp::Neg, x) => {
            let value = evaluate_int(x, scope)?;
            value
                .checked_neg()
                .map(Value::Int)
                .ok_or_else(|| EvalError::Overflow(expr.to_string()))
        }
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), x, y) => logic(*op, x, y, scope),
        Expr::Binary(op, x, y) => binary(expr, *op, evaluate(x, scope)?, evaluate(y, scope)?),
        Expr::Call(function, arguments) => call(expr, *function, arguments, scope),
    }
}

/// The value of an expression that must be an integer.
///
/// # Errors
/// The errors of [`evaluate`], and an error if the value is not an integer.
pub fn evaluate_int(expr: &Expr, scope: &dyn Scope) -> Result<i128, EvalError> {
    match evaluate(expr, scope)? {
        Value::Int(x) => Ok(x),
        other => Err(kind(expr, "an integer", &other)),
    }
}

/// The value of an expression that must be a boolean.
///
/// # Errors
/// The errors of [`evaluate`], and an error if the value is not a boolean.
pub fn evaluate_bool(expr: &Expr, scope: &dyn Scope) -> Result<bool, EvalError> {
    match evaluate(expr, scope)? {
        Value::Bool(x) => Ok(x),
        other => Err(kind(expr, "a truth value", &other)),
    }
}

/// The truth of a constraint in a scope in which some names or the device may be unknown.
///
/// If the result is `True` or `False`, it is correct for all values of the unknown names for which the constraint has a
/// value. For some values, the constraint may have none, for example because an operand that was not needed here
/// divides by zero.
///
/// # Errors
/// If the constraint has no value for a reason other than an unknown name or device.
pub fn truth(expr: &Expr, scope: &dyn Scope) -> Result<Known, EvalError> {
    match evaluate_bool(expr, scope) {
        Ok(true) => Ok(Known::True),
        Ok(false) => Ok(Known::False),
        Err(error) if error.is_unknown() => Ok(Known::Unknown),
        Err(error) => Err(error),
    }
}

/// Evaluates `&&` and `||`. As in Rust, the right side is not evaluated if the left side determines the result, so `B
/// != 0 && A % B == 0` cannot fail. If the left side is unknown, the right side may determine the result.
fn logic(op: BinaryOp, x: &Expr, y: &Expr, scope: &dyn Scope) -> Result<Value, EvalError> {
    let deciding = op == BinaryOp::Or;
    match evaluate_bool(x, scope) {
        Ok(left) if left == deciding => Ok(Value::Bool(deciding)),
        Ok(_) => evaluate_bool(y, scope).map(Value::Bool),
        Err(unknown) if unknown.is_unknown() => match evaluate_bool(y, scope) {
            Ok(right) if right == deciding => Ok(Value::Bool(deciding)),
            // Ignore an error on the right side. Once the left side is known, it may determine the result, and the
            // error would then not occur.
            _ => Err(unknown),
        },
        Err(error) => Err(error),
    }
}

fn binary(expr: &Expr, op: BinaryOp, x: Value, y: Value) -> Result<Value, EvalError> {
    match (&x, &y) {
        (Value::Int(x), Value::Int(y)) => match arithmetic::integers(op, *x, *y) {
            Ok(IntResult::Int(x)) => Ok(Value::Int(x)),
            Ok(IntResult::Bool(x)) => Ok(Value::Bool(x)),
            Err(why) => Err(fault(expr, why)),
        },
        (Value::Bool(_), Value::Bool(_)) | (Value::Name(_), Value::Name(_)) => match op {
            BinaryOp::Eq => Ok(Value::Bool(x == y)),
            BinaryOp::Ne => Ok(Value::Bool(x != y)),
            _ => Err(kind(expr, "integers", &x)),
        },
        (Value::Int(_), other) => Err(kind(expr, "an integer", other)),
        (left, other) => Err(kind(expr, left.kind(), other)),
    }
}

fn call(
    expr: &Expr,
    function: BuiltinFunction,
    arguments: &[Expr],
    scope: &dyn Scope,
) -> Result<Value, EvalError> {
    if !function.accepts(arguments.len()) {
        return Err(fault(
            expr,
            ArithmeticFault::Domain("wrong number of arguments"),
        ));
    }
    let first = &arguments[0];
    if function == BuiltinFunction::SizeOf {
        return size_of(expr, first, scope);
    }
    let mut result = evaluate_int(first, scope)?;
    if function == BuiltinFunction::NextPowerOfTwo {
        result = arithmetic::next_power_of_two(result).map_err(|f| fault(expr, f))?;
    }
    for argument in &arguments[1..] {
        let next = evaluate_int(argument, scope)?;
        result = arithmetic::call_pair(function, result, next).map_err(|f| fault(expr, f))?;
    }
    Ok(Value::Int(result))
}

/// Evaluates `size_of(T)`: the size in bytes of an element type.
fn size_of(expr: &Expr, argument: &Expr, scope: &dyn Scope) -> Result<Value, EvalError> {
    match evaluate(argument, scope)? {
        Value::Name(name) => match ElemType::from_name(&name) {
            Some(ty) => Ok(Value::Int(ty.bytes() as i128)),
            None => Err(fault(expr, ArithmeticFault::Domain(NO_ELEMENT_TYPE))),
        },
        other => Err(kind(expr, "an element type", &other)),
    }
}

/// The message if the argument of `size_of` is not an element type.
pub(crate) const NO_ELEMENT_TYPE: &str = "size_of takes an element type";

fn fault(expr: &Expr, fault: ArithmeticFault) -> EvalError {
    match fault {
        ArithmeticFault::Overflow => EvalError::Overflow(expr.to_string()),
        ArithmeticFault::DivisionByZero => EvalError::DivisionByZero(expr.to_string()),
        ArithmeticFault::Domain(reason) => EvalError::Domain {
            expr: expr.to_string(),
            reason,
        },
        ArithmeticFault::Kind => kind(expr, "truth values", &Value::Int(0)),
    }
}

fn kind(expr: &Expr, expected: &'static str, found: &Value) -> EvalError {
    EvalError::Kind {
        expr: expr.to_string(),
        expected,
        found: found.kind(),
    }
}
