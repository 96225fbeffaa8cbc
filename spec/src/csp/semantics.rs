//! The languages whose functions a model can use.

use super::function::Function;
use super::value::Outcome;
use super::{kiln, python};

/// The language whose rules apply to an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// Kiln's specs: exact integers of 128 bits. A function has no value if the kinds of its operands differ.
    Kiln,
    /// Python: integers (here limited to 128 bits) and doubles, which can be mixed. Booleans count as integers.
    Python,
}

impl Semantics {
    /// Applies a function to arguments, each of which may have no value itself.
    pub fn apply(self, function: Function, arguments: &[Outcome]) -> Outcome {
        match self {
            Semantics::Kiln => kiln::apply(function, arguments),
            Semantics::Python => python::apply(function, arguments),
        }
    }
}
