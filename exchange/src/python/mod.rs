//! Python expressions in definitions of search spaces. The supported syntax is arithmetic, comparisons (also chained
//! ones), `and`, `or`, `not`, `in`, conditional expressions, `min`, `max`, `abs` and `pow`. The values of parameters
//! can also use lists, `range` and comprehensions. No Python code is executed, and any other syntax is an error.

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
