//! Values of parameters.

use kiln_spec::csp::Value;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// An integer.
    Int(i128),
    /// A finite floating-point number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A string.
    Text(String),
}

impl Literal {
    /// Converts a value of the solver. `None` for a name, which no parameter can have as its value.
    pub(crate) fn of(value: Value) -> Option<Literal> {
        match value {
            Value::Int(x) => Some(Literal::Int(x)),
            Value::Float(x) => Some(Literal::Float(x)),
            Value::Bool(x) => Some(Literal::Bool(x)),
            Value::Name(_) => None,
        }
    }
}

impl std::fmt::Display for Literal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Literal::Int(x) => x.fmt(f),
            Literal::Float(x) => write!(f, "{x:?}"),
            Literal::Bool(true) => f.write_str("True"),
            Literal::Bool(false) => f.write_str("False"),
            Literal::Text(x) => write!(f, "'{x}'"),
        }
    }
}
