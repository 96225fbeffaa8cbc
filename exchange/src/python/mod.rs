//! Python expressions of search spaces: arithmetic, comparisons (chained ones too), `and`, `or`, `not`, `in`,
//! conditional expressions, `min`, `max`, `abs` and `pow`; lists, `range` and comprehensions for the values of
//! parameters. Nothing is executed; anything else is an error.

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
