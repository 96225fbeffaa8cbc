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
    /// `a < b <= c`: every pair of neighbours.
    Chain(Box<Expr>, Vec<(Function, Expr)>),
    /// `x in [a, b]`; negated for `not in`.
    In {
        /// The value to look for.
        item: Box<Expr>,
        /// The list to look in.
        list: Vec<Expr>,
        /// Whether the value must be absent.
        negated: bool,
    },
    /// `[a, b]` or `(a, b)`
    List(Vec<Expr>),
    /// `[element for variable in list if condition]`
    Comprehension {
        /// The value of each element.
        element: Box<Expr>,
        /// The name that stands for the items of the list.
        variable: String,
        /// The list.
        list: Box<Expr>,
        /// The condition that items must meet.
        condition: Option<Box<Expr>>,
    },
    /// `range(…)`
    Range(Vec<Expr>),
}

impl Expr {
    /// The first name in it that `known` does not accept.
    pub fn unknown_name<'a>(&'a self, known: &dyn Fn(&str) -> bool) -> Option<&'a str> {
        let any = |parts: &'a [Expr]| parts.iter().find_map(|part| part.unknown_name(known));
        match self {
            Expr::Value(_) | Expr::Text(_) => None,
            Expr::Name(name) => (!known(name)).then_some(name),
            Expr::Apply(_, parts)
            | Expr::All(parts)
            | Expr::Any(parts)
            | Expr::List(parts)
            | Expr::Range(parts) => any(parts),
            Expr::Chain(first, rest) => {
                let rest = || rest.iter().find_map(|(_, part)| part.unknown_name(known));
                first.unknown_name(known).or_else(rest)
            }
            Expr::In { item, list, .. } => item.unknown_name(known).or_else(|| any(list)),
            Expr::Comprehension {
                element,
                variable,
                list,
                condition,
            } => {
                let inner = |name: &str| name == variable || known(name);
                let of_element = || element.unknown_name(&inner);
                let condition = condition.as_deref();
                let of_condition = || condition.and_then(|part| part.unknown_name(&inner));
                let of_list = list.unknown_name(known);
                of_list.or_else(of_element).or_else(of_condition)
            }
        }
    }
}
