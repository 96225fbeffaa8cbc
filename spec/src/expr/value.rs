//! The values of expressions.

use std::fmt;
use std::sync::Arc;

/// A value during evaluation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// An integer; 128 bits wide, so that products of problem sizes do not overflow in practice.
    Int(i128),
    /// A boolean.
    Bool(bool),
    /// A choice or an element type, by name.
    Name(Arc<str>),
}

impl Value {
    /// The kind of value, for messages.
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
