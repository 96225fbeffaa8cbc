//! A simple evaluator of Python expressions for one config. Like Python, it evaluates from left to right and stops as
//! soon as the result of `and` or `or` is known.

use kiln_exchange::definition::Definition;
use kiln_exchange::definition::Literal;
use kiln_exchange::python::PythonExpr;
use kiln_spec::csp::{Function, Semantics, Value};

/// The number of configs in the product that satisfy every constraint. It tests each config.
pub(super) fn count(definition: &Definition) -> u128 {
    let params = &definition.params;
    let mut places = vec![0; params.len()];
    let mut count = 0;
    loop {
        let config: Vec<(&str, &Literal)> = params
            .iter()
            .zip(&places)
            .map(|(param, place)| (param.name.as_str(), &param.values[*place]))
            .collect();
        let mut constraints = definition.constraints.iter();
        let valid = constraints
            .all(|constraint| value(&constraint.expr, &config).is_some_and(|value| truth(&value)));
        count += u128::from(valid);
        let next = params
            .iter()
            .zip(&mut places)
            .rev()
            .find_map(|(param, place)| {
                *place += 1;
                if *place < param.values.len() {
                    return Some(());
                }
                *place = 0;
                None
            });
        if next.is_none() {
            return count;
        }
    }
}

/// The value of an expression, or `None` if Python raises an exception.
fn value(expr: &PythonExpr, config: &[(&str, &Literal)]) -> Option<Literal> {
    match expr {
        PythonExpr::Value(value) => literal(*value, &[]),
        PythonExpr::Text(text) => Some(Literal::Text(text.clone())),
        PythonExpr::Name(name) => {
            let found = config.iter().find(|(known, _)| known == name)?;
            Some(found.1.clone())
        }
        PythonExpr::Apply(Function::Select, parts) => {
            let chosen = if truth(&value(&parts[0], config)?) {
                1
            } else {
                2
            };
            value(&parts[chosen], config)
        }
        PythonExpr::Apply(function, parts) => {
            let parts: Option<Vec<Literal>> =
                parts.iter().map(|part| value(part, config)).collect();
            apply(*function, &parts?)
        }
        PythonExpr::All(parts) => decided(parts, config, false),
        PythonExpr::Any(parts) => decided(parts, config, true),
        PythonExpr::Chain(first, rest) => {
            let mut left = value(first, config)?;
            for (function, right) in rest {
                let right = value(right, config)?;
                if !truth(&apply(*function, &[left, right.clone()])?) {
                    return Some(Literal::Bool(false));
                }
                left = right;
            }
            Some(Literal::Bool(true))
        }
        PythonExpr::In {
            item,
            list,
            negated,
        } => {
            let item = value(item, config)?;
            let list: Option<Vec<Literal>> = list.iter().map(|part| value(part, config)).collect();
            let mut found = false;
            for part in list? {
                found |= truth(&apply(Function::Eq, &[item.clone(), part])?);
            }
            Some(Literal::Bool(found != *negated))
        }
        PythonExpr::List(_) | PythonExpr::Comprehension { .. } | PythonExpr::Range(_) => None,
    }
}

/// The value of `and` or `or`: the operand that determines the result.
fn decided(parts: &[PythonExpr], config: &[(&str, &Literal)], by: bool) -> Option<Literal> {
    let mut last = Literal::Bool(!by);
    for part in parts {
        last = value(part, config)?;
        if truth(&last) == by {
            break;
        }
    }
    Some(last)
}

fn truth(value: &Literal) -> bool {
    match value {
        Literal::Int(x) => *x != 0,
        Literal::Float(x) => *x != 0.0,
        Literal::Bool(x) => *x,
        Literal::Text(text) => !text.is_empty(),
    }
}

/// Applies a function to values. A text is represented by the index of the first equal text among the arguments.
fn apply(function: Function, arguments: &[Literal]) -> Option<Literal> {
    if matches!(function, Function::Not | Function::Truth) {
        let truth = truth(&arguments[0]);
        return Some(Literal::Bool(truth == (function == Function::Truth)));
    }
    let number = |argument: &Literal| match argument {
        Literal::Int(x) => Value::Int(*x),
        Literal::Float(x) => Value::Float(*x),
        Literal::Bool(x) => Value::Bool(*x),
        Literal::Text(text) => {
            let same = |other: &Literal| matches!(other, Literal::Text(other) if other == text);
            let place = arguments.iter().position(same).unwrap_or_default();
            Value::Name(u32::try_from(place).unwrap_or_default())
        }
    };
    let values: Vec<_> = arguments
        .iter()
        .map(|argument| Some(number(argument)))
        .collect();
    literal(Semantics::Python.apply(function, &values)?, arguments)
}

fn literal(value: Value, arguments: &[Literal]) -> Option<Literal> {
    Some(match value {
        Value::Int(x) => Literal::Int(x),
        Value::Float(x) => Literal::Float(x),
        Value::Bool(x) => Literal::Bool(x),
        Value::Name(place) => arguments.get(place as usize)?.clone(),
    })
}
