//! The expression language of specs: integers, booleans and names, with checked arithmetic.
//!
//! Expressions consist of tunable parameters, problem sizes, `device.*` limits, `+ - * / % << >>`, comparisons, `&& ||
//! !`, `min`, `max`, `div_ceil`, `next_power_of_two` and `size_of`. `docs/spec-language.md` describes the grammar.
//!
//! Arithmetic is exact in 128 bits. Overflow and division by zero are errors and never panics. As in Rust and C, `/`
//! rounds towards zero, and `%` has the sign of the dividend.

pub(crate) mod arithmetic;
mod ast;
mod eval;
mod print;
#[cfg(test)]
mod tests;
mod value;

pub use arithmetic::MAX_SHIFT;
pub use ast::{BinaryOp, BuiltinFunction, Expr, UnaryOp};
pub use eval::{EvalError, Known, Scope, evaluate, evaluate_bool, evaluate_int, truth};
pub use value::Value;
