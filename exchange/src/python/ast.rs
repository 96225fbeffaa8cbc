//! The syntax tree of a Python expression.

use kiln_spec::csp::{Function, Value};

/// A Python expression. The variants cover only the syntax that definitions of search spaces use.
#[derive(Clone, Debug, PartialEq)]
pub enum PythonExpr {
    /// A number or a truth value.
    Value(Value),
    /// A string.
    Text(String),
    /// A parameter, or the variable of a comprehension.
    Name(String),
    /// An operator or function of one to three arguments.
    Apply(Function, Vec<PythonExpr>),
    /// `a and b and …`
    All(Vec<PythonExpr>),
    /// `a or b or …`
    Any(Vec<PythonExpr>),
    /// `a < b <= c`, which compares every pair of neighbours.
    Chain(Box<PythonExpr>, Vec<(Function, PythonExpr)>),
    /// `x in [a, b]`, or `x not in [a, b]`.
    In {
        /// The value to look for.
        item: Box<PythonExpr>,
        /// The list to look in.
        list: Vec<PythonExpr>,
        /// Whether the value must be absent.
        negated: bool,
    },
    /// `[a, b]` or `(a, b)`
    List(Vec<PythonExpr>),
    /// `[element for variable in list if condition]`
    Comprehension {
        /// The value of each element.
        element: Box<PythonExpr>,
        /// The variable that is bound to each item of the list.
        variable: String,
        /// The list whose items are bound to the variable.
        list: Box<PythonExpr>,
        /// The condition that items must meet; `None` for no condition.
        condition: Option<Box<PythonExpr>>,
    },
    /// `range(…)`
    Range(Vec<PythonExpr>),
}

impl PythonExpr {
    /// The first name in the expression for which `known` returns `false`; `None` if there is none.
    pub fn unknown_name<'a>(&'a self, known: &dyn Fn(&str) -> bool) -> Option<&'a str> {
        let any = |parts: &'a [PythonExpr]| parts.iter().find_map(|part| part.unknown_name(known));
        match self {
            PythonExpr::Value(_) | PythonExpr::Text(_) => None,
            PythonExpr::Name(name) => (!known(name)).then_some(name),
            PythonExpr::Apply(_, parts)
            | PythonExpr::All(parts)
            | PythonExpr::Any(parts)
            | PythonExpr::List(parts)
            | PythonExpr::Range(parts) => any(parts),
            PythonExpr::Chain(first, rest) => {
                let rest = || rest.iter().find_map(|(_, part)| part.unknown_name(known));
                first.unknown_name(known).or_else(rest)
            }
            PythonExpr::In { item, list, .. } => item.unknown_name(known).or_else(|| any(list)),
            PythonExpr::Comprehension {
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
