//! Python expressions, as definitions of search spaces contain them: arithmetic, comparisons (chained ones too), `and`,
//! `or`, `not`, `in`, conditional expressions, `min`, `max`, `abs`, `pow`, and for the values of parameters lists, `range` and
//! comprehensions. Nothing is executed; what is not in this list is an error.

mod ast;
mod error;
pub(crate) mod evaluate;
pub(crate) mod lower;
mod parser;
mod token;
pub(crate) mod write;

pub use ast::Expr;
pub use error::{ConstraintError, ListError, ParseError, TranslateError};
pub use parser::parse;
