//! The values of expressions.

use std::fmt;
use std::sync::Arc;

/// The value of an expression during evaluation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// An integer. It has 128 bits, so that products of problem sizes do not overflow in practice.
    Int(i128),
    /// A boolean.
    Bool(bool),
    /// The name of a choice or of an element type.
    Name(Arc<str>),
}

impl Value {
    /// The kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Int(_) => "an integer",
            Value::Bool(_) => "a truth value",
            Value::Name(_) => "a name",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(x) => x.fmt(f),
            Value::Bool(x) => x.fmt(f),
            Value::Name(x) => x.fmt(f),
        }
    }
}
