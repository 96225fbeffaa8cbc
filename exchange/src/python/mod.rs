//! Python expressions in definitions of search spaces. No Python code is executed. The supported syntax is:
//!
//! - literals and names
//! - arithmetic, comparisons (including chained ones), `and`, `or` and `not`
//! - `in` with a list or tuple
//! - conditional expressions
//! - the functions `min`, `max`, `abs`, `pow` and `bool`
//!
//! An expression that lists the values of a parameter may also use lists, `list`, `range` and comprehensions. Any other
//! syntax is an error.

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
