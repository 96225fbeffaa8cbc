//! The two languages that use the functions.

use super::function::Function;
use super::value::Outcome;
use super::{kiln, python};

/// The language whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// Kiln's specs: exact integers of 128 bits, kinds that do not mix.
    Kiln,
    /// Python's numbers: integers (of 128 bits here) and doubles that mix; booleans are integers.
    Python,
}

impl Semantics {
    /// Applies a function to values, some of which may be missing.
    pub fn apply(self, function: Function, arguments: &[Outcome]) -> Outcome {
        match self {
            Semantics::Kiln => kiln::apply(function, arguments),
            Semantics::Python => python::apply(function, arguments),
        }
    }
}
