//! The shape of a Python expression.

use kiln_spec::csp::{Function, Value};

/// A Python expression, as far as definitions of search spaces use them.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A number or truth value.
    Value(Value),
    /// A string.
    Text(String),
    /// A parameter, or the variable of a comprehension.
    Name(String),
    /// An operator or function of one to three arguments.
    Apply(Function, Vec<Expr>),
    /// `a and b and …`
    All(Vec<Expr>),
    /// `a or b or …`
    Any(Vec<Expr>),
    /// `a < b <= c`: each pair that stands side by side.
    Chain(Box<Expr>, Vec<(Function, Expr)>),
    /// `x in [a, b]`; negated for `not in`.
    In {
        /// What is looked for.
        item: Box<Expr>,
        /// Where.
        list: Vec<Expr>,
        /// Whether it must be absent.
        negated: bool,
    },
    /// `[a, b]` or `(a, b)`
    List(Vec<Expr>),
    /// `[element for variable in list if condition]`
    Comprehension {
        /// What each element is.
        element: Box<Expr>,
        /// The name that stands for the items of the list.
        variable: String,
        /// The list.
        list: Box<Expr>,
        /// Which items count.
        condition: Option<Box<Expr>>,
    },
    /// `range(…)`
    Range(Vec<Expr>),
}
