//! The values of parameters and expressions in a model.

use std::hash::{Hash, Hasher};

/// A value of a parameter or an expression. Two values are equal only if they have the same kind, so `1` and `1.0`
/// differ. The `==` operator of a language may nevertheless treat them as equal.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// An integer.
    Int(i128),
    /// An IEEE double.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// A name, represented by a number that the builder of the expressions assigns.
    Name(u32),
}

/// The value of an expression. `None` if it has no value, for example because of a division by zero, an overflow or a
/// wrong kind of operand.
pub type Outcome = Option<Value>;

impl Value {
    /// The name that represents the empty string. It is the only name that is false in Python.
    pub const EMPTY_NAME: Value = Value::Name(u32::MAX);

    /// A key by which values are compared: the kind and the bits.
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
