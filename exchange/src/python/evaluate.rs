//! Evaluates Python lists that give the values of a parameter.

use kiln_spec::csp::{Function, Semantics, Value};

use super::ast::PythonExpr;
use super::error::ListError;
use crate::definition::literal::Literal;

/// The largest number of values of a parameter, and the largest number of items that may be evaluated to find them.
pub(crate) const MAX_ITEMS: usize = 1 << 20;

/// Evaluates the items of a list.
///
/// # Errors
/// The expression is not a list, has no value, or has too many items.
pub(crate) fn list(expr: &PythonExpr) -> Result<Vec<Literal>, ListError> {
    Evaluation { left: MAX_ITEMS }.list(expr, &[])
}

/// The variables of comprehensions, with their current values.
type Scope<'a> = [(&'a str, Literal)];

struct Evaluation {
    /// The number of items that may still be evaluated.
    left: usize,
}

impl Evaluation {
    fn spend(&mut self, items: usize) -> Result<(), ListError> {
        self.left = self
            .left
            .checked_sub(items)
            .ok_or(ListError::TooManyItems { limit: MAX_ITEMS })?;
        Ok(())
    }

    fn list(&mut self, expr: &PythonExpr, scope: &Scope<'_>) -> Result<Vec<Literal>, ListError> {
        match expr {
            PythonExpr::List(items) => {
                self.spend(items.len())?;
                items.iter().map(|item| self.value(item, scope)).collect()
            }
            PythonExpr::Range(arguments) => self.range(arguments, scope),
            PythonExpr::Comprehension {
                element,
                variable,
                list,
                condition,
            } => {
                let mut found = Vec::new();
                for item in self.list(list, scope)? {
                    let mut inner = scope.to_vec();
                    inner.push((variable, item));
                    let wanted = match condition {
                        Some(condition) => self.truth(condition, &inner)?,
                        None => true,
                    };
                    if wanted {
                        found.push(self.value(element, &inner)?);
                    }
                }
                Ok(found)
            }
            PythonExpr::Apply(Function::Add, parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.list(part, scope)?);
                }
                Ok(all)
            }
            _ => Err(ListError::NotAList),
        }
    }

    fn range(
        &mut self,
        arguments: &[PythonExpr],
        scope: &Scope<'_>,
    ) -> Result<Vec<Literal>, ListError> {
        let mut ends = Vec::new();
        for argument in arguments {
            match self.value(argument, scope)? {
                Literal::Int(x) => ends.push(x),
                _ => return Err(ListError::RangeType),
            }
        }
        let (start, stop, step) = match ends.as_slice() {
            [stop] => (0, *stop, 1),
            [start, stop] => (*start, *stop, 1),
            [start, stop, step] => (*start, *stop, *step),
            _ => return Err(ListError::RangeArguments),
        };
        if step == 0 {
            return Err(ListError::RangeStep);
        }
        let mut items = Vec::new();
        let mut next = start;
        while (step > 0 && next < stop) || (step < 0 && next > stop) {
            self.spend(1)?;
            items.push(Literal::Int(next));
            let Some(after) = next.checked_add(step) else {
                break;
            };
            next = after;
        }
        Ok(items)
    }

    fn truth(&mut self, expr: &PythonExpr, scope: &Scope<'_>) -> Result<bool, ListError> {
        let value = self.value(expr, scope)?;
        match apply(Function::Truth, &[value])? {
            Literal::Bool(truth) => Ok(truth),
            _ => Err(ListError::NotATruthValue),
        }
    }

    fn value(&mut self, expr: &PythonExpr, scope: &Scope<'_>) -> Result<Literal, ListError> {
        match expr {
            PythonExpr::Value(value) => Literal::of(*value).ok_or(ListError::NoValue),
            PythonExpr::Text(text) => Ok(Literal::Text(text.clone())),
            PythonExpr::Name(name) => {
                let known = scope.iter().rev().find(|(known, _)| known == name);
                let value = known.map(|(_, value)| value.clone());
                value.ok_or_else(|| ListError::UnknownName { name: name.clone() })
            }
            PythonExpr::Apply(function, arguments) => {
                let values = arguments.iter().map(|x| self.value(x, scope));
                apply(*function, &values.collect::<Result<Vec<_>, _>>()?)
            }
            PythonExpr::All(parts) | PythonExpr::Any(parts) => {
                let deciding = matches!(expr, PythonExpr::Any(_));
                for part in parts {
                    if self.truth(part, scope)? == deciding {
                        return Ok(Literal::Bool(deciding));
                    }
                }
                Ok(Literal::Bool(!deciding))
            }
            PythonExpr::Chain(first, rest) => {
                let mut left = self.value(first, scope)?;
                for (function, right) in rest {
                    let right = self.value(right, scope)?;
                    if apply(*function, &[left, right.clone()])? != Literal::Bool(true) {
                        return Ok(Literal::Bool(false));
                    }
                    left = right;
                }
                Ok(Literal::Bool(true))
            }
            PythonExpr::In { .. }
            | PythonExpr::List(_)
            | PythonExpr::Comprehension { .. }
            | PythonExpr::Range(_) => Err(ListError::NestedList),
        }
    }
}

/// Applies a function to values.
fn apply(function: Function, arguments: &[Literal]) -> Result<Literal, ListError> {
    let of = |literal: &Literal| match literal {
        Literal::Int(x) => Some(Value::Int(*x)),
        Literal::Float(x) => Some(Value::Float(*x)),
        Literal::Bool(x) => Some(Value::Bool(*x)),
        Literal::Text(_) => None,
    };
    let arguments: Vec<_> = arguments.iter().map(of).collect();
    Semantics::Python
        .apply(function, &arguments)
        .and_then(Literal::of)
        .ok_or(ListError::Undefined)
}
