//! Python expressions in definitions of search spaces. The supported syntax is literals, names, arithmetic, comparisons
//! (including chained ones), `and`, `or`, `not`, `in` with a list or tuple, conditional expressions, and the functions
//! `min`, `max`, `abs`, `pow` and `bool`. If an expression lists the values of a parameter, it may also use lists,
//! `list`, `range` and comprehensions. Anything else is an error. No Python code is executed.

mod ast;
mod error;
pub(crate) mod evaluate;
pub(crate) mod lower;
mod parser;
mod token;
pub(crate) mod write;

pub use ast::PythonExpr;
pub use error::{ConstraintError, ListError, ParseError, TranslateError};
pub use parser::parse;
