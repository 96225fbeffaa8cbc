//! Values of parameters and expressions.

use std::hash::{Hash, Hasher};

/// A value. Two values are equal if they have the same kind and value (`1` and `1.0` differ here; the `==` of a
/// language is defined by its operators).
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// An integer.
    Int(i128),
    /// An IEEE double.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// A name, numbered by the builder of the expressions.
    Name(u32),
}

/// The value of an expression; `None` if it has none (a division by zero, an overflow, a wrong kind).
pub type Outcome = Option<Value>;

impl Value {
    /// The name that stands for the empty string, the only one that is false in Python.
    pub const EMPTY_NAME: Value = Value::Name(u32::MAX);

    /// Kind and bits, which determine whether two values are equal.
    fn identity(self) -> (u8, u128) {
        match self {
            Value::Int(x) => (0, x as u128),
            Value::Float(x) => (1, x.to_bits().into()),
            Value::Bool(x) => (2, x.into()),
            Value::Name(x) => (3, x.into()),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (kind, bits) = self.identity();
        state.write_u64(u64::from(kind) ^ (bits >> 64) as u64);
        state.write_u64(bits as u64);
    }
}
