//! Converts Python expressions to terms of a solver model.

use kiln_spec::csp::{ExprGraph, Function, TermId, Value};

use super::ast::PythonExpr;
use super::error::ConstraintError;

/// The names and strings that expressions may use.
pub(crate) struct Names<'a> {
    /// Names of the parameters, in order.
    pub(crate) params: &'a [&'a str],
    /// The strings that were used so far. A string is represented by its index.
    pub(crate) texts: &'a mut Vec<String>,
}

impl Names<'_> {
    /// The value that represents a string in the model.
    pub(crate) fn text(&mut self, text: &str) -> Value {
        if text.is_empty() {
            return Value::EMPTY_NAME;
        }
        let known = self.texts.iter().position(|known| known == text);
        let number = known.unwrap_or_else(|| {
            self.texts.push(text.into());
            self.texts.len() - 1
        });
        Value::Name(u32::try_from(number).unwrap_or(u32::MAX))
    }
}

/// Adds an expression to the graph, and returns its term.
///
/// # Errors
/// A name is not a parameter, or a list is used as a value.
pub(crate) fn lower(
    expr: &PythonExpr,
    graph: &mut ExprGraph,
    names: &mut Names<'_>,
) -> Result<TermId, ConstraintError> {
    match expr {
        PythonExpr::Value(value) => Ok(graph.constant(*value)),
        PythonExpr::Text(text) => {
            let value = names.text(text);
            Ok(graph.constant(value))
        }
        PythonExpr::Name(name) => match names.params.iter().position(|param| param == name) {
            Some(param) => Ok(graph.param(param)),
            None => Err(ConstraintError::UnknownParam { name: name.clone() }),
        },
        PythonExpr::Apply(function, arguments) => {
            let terms = all(arguments, graph, names)?;
            Ok(graph.apply(*function, &terms))
        }
        PythonExpr::All(parts) => {
            let terms = all(parts, graph, names)?;
            joined(graph, Function::And, &terms, true)
        }
        PythonExpr::Any(parts) => {
            let terms = all(parts, graph, names)?;
            joined(graph, Function::Or, &terms, false)
        }
        PythonExpr::Chain(first, rest) => {
            let mut left = lower(first, graph, names)?;
            let mut terms = Vec::new();
            for (function, right) in rest {
                let right = lower(right, graph, names)?;
                terms.push(graph.apply(*function, &[left, right]));
                left = right;
            }
            joined(graph, Function::And, &terms, true)
        }
        PythonExpr::In {
            item,
            list,
            negated,
        } => {
            let item = lower(item, graph, names)?;
            let terms = all(list, graph, names)?;
            // Python evaluates every item of the list, even those after an equal one. The result therefore has a value
            // only if all items have one.
            let computed: Vec<TermId> = terms
                .iter()
                .filter(|term| graph.value(**term).is_none())
                .copied()
                .collect();
            let equal = terms
                .iter()
                .map(|term| graph.apply(Function::Eq, &[item, *term]));
            let equal: Vec<TermId> = equal.collect();
            let mut found = joined(graph, Function::Or, &equal, false)?;
            if *negated {
                found = graph.apply(Function::Not, &[found]);
            }
            let yes = graph.constant(Value::Bool(true));
            for term in computed {
                let known = graph.apply(Function::Or, &[term, yes]);
                found = graph.apply(Function::Select, &[known, found, found]);
            }
            Ok(found)
        }
        PythonExpr::List(_) | PythonExpr::Comprehension { .. } | PythonExpr::Range(_) => {
            Err(ConstraintError::List)
        }
    }
}

fn all(
    exprs: &[PythonExpr],
    graph: &mut ExprGraph,
    names: &mut Names<'_>,
) -> Result<Vec<TermId>, ConstraintError> {
    exprs.iter().map(|x| lower(x, graph, names)).collect()
}

/// Combines terms from left to right; the constant `empty` if there are none.
fn joined(
    graph: &mut ExprGraph,
    function: Function,
    terms: &[TermId],
    empty: bool,
) -> Result<TermId, ConstraintError> {
    let Some((first, rest)) = terms.split_first() else {
        return Ok(graph.constant(Value::Bool(empty)));
    };
    Ok(rest
        .iter()
        .fold(*first, |x, y| graph.apply(function, &[x, *y])))
}
