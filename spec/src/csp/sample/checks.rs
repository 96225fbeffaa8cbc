//! Evaluates constraints for one config. Each term is evaluated at most once. Evaluation stops at the first constraint
//! that is not satisfied.

use super::super::function::Function;
use super::super::graph::{ExprGraph, Fold, Op, TermId};
use super::super::hashing::WordMap;
use super::super::semantics::Semantics;
use super::super::value::{Outcome, Value};

/// Constraints as a list of terms, in which each term comes after the terms that it uses.
#[derive(Clone, Debug)]
pub(super) struct Checks {
    semantics: Semantics,
    parts: Vec<CheckPart>,
    /// For each constraint, the index of its term in `parts`.
    constraints: Vec<usize>,
}

/// How a term is computed from earlier terms.
#[derive(Clone, Debug)]
enum CheckPart {
    Const(Outcome),
    Table {
        param: usize,
        values: Vec<Outcome>,
    },
    Linear {
        constant: i64,
        terms: Vec<(i64, usize)>,
    },
    Fold(Fold, Vec<usize>),
    Apply(Function, Vec<usize>),
}

impl Checks {
    pub(super) fn new(graph: &ExprGraph, constraints: &[TermId]) -> Checks {
        let mut compiler = CheckCompiler {
            graph,
            numbers: WordMap::default(),
            parts: Vec::new(),
        };
        let constraints = constraints.iter().map(|id| compiler.number(*id)).collect();
        Checks {
            semantics: graph.semantics,
            parts: compiler.parts,
            constraints,
        }
    }

    /// Whether the config with these places (indices of values) satisfies all constraints. `outcomes` is a reused
    /// buffer.
    pub(super) fn hold(&self, places: &[u32], outcomes: &mut Vec<Outcome>) -> bool {
        outcomes.clear();
        self.constraints.iter().all(|constraint| {
            while outcomes.len() <= *constraint {
                let outcome = self.outcome(&self.parts[outcomes.len()], places, outcomes);
                outcomes.push(outcome);
            }
            outcomes[*constraint] == Some(Value::Bool(true))
        })
    }

    fn outcome(&self, part: &CheckPart, places: &[u32], outcomes: &[Outcome]) -> Outcome {
        match part {
            CheckPart::Const(value) => *value,
            CheckPart::Table { param, values } => values[places[*param] as usize],
            CheckPart::Linear { constant, terms } => {
                let mut sum = i128::from(*constant);
                for (factor, part) in terms {
                    sum += i128::from(*factor) * number(outcomes[*part])?;
                }
                Some(Value::Int(sum))
            }
            CheckPart::Fold(Fold::Product, factors) => {
                let mut product = 1;
                for part in factors {
                    product *= number(outcomes[*part])?;
                }
                Some(Value::Int(product))
            }
            CheckPart::Fold(fold, parts) => {
                let is_true = |part: &usize| outcomes[*part] == Some(Value::Bool(true));
                Some(Value::Bool(match fold {
                    Fold::Any => parts.iter().any(is_true),
                    _ => parts.iter().all(is_true),
                }))
            }
            CheckPart::Apply(function, arguments) => match *arguments.as_slice() {
                [x] => self.semantics.apply(*function, &[outcomes[x]]),
                [x, y] => {
                    let both = [outcomes[x], outcomes[y]];
                    self.semantics.apply(*function, &both)
                }
                _ => {
                    let all: Vec<Outcome> = arguments.iter().map(|part| outcomes[*part]).collect();
                    self.semantics.apply(*function, &all)
                }
            },
        }
    }
}

/// The value of an operand of a sum or product as an integer. The kind of the operand guarantees that it is a number,
/// and the kind of the sum or product guarantees that it does not overflow.
fn number(outcome: Outcome) -> Option<i128> {
    match outcome? {
        Value::Int(x) => Some(x),
        Value::Bool(x) => Some(x.into()),
        _ => None,
    }
}

struct CheckCompiler<'a> {
    graph: &'a ExprGraph,
    numbers: WordMap<TermId, usize>,
    parts: Vec<CheckPart>,
}

impl CheckCompiler<'_> {
    /// The index of a term in `parts`. Adds the term if it is new.
    fn number(&mut self, id: TermId) -> usize {
        if let Some(number) = self.numbers.get(&id) {
            return *number;
        }
        let graph = self.graph;
        let part = match &graph.term(id).op {
            Op::Const(value) => CheckPart::Const(*value),
            Op::Table { var, values } => CheckPart::Table {
                param: graph.variables[*var],
                values: values.clone(),
            },
            Op::Linear { constant, terms } => {
                let terms = terms.iter();
                let terms = terms.map(|(factor, id)| (*factor, self.number(*id)));
                CheckPart::Linear {
                    constant: *constant,
                    terms: terms.collect(),
                }
            }
            Op::Fold(fold, ids) => CheckPart::Fold(*fold, self.all(ids)),
            Op::Apply(function, ids) => CheckPart::Apply(*function, self.all(ids)),
        };
        self.parts.push(part);
        self.numbers.insert(id, self.parts.len() - 1);
        self.parts.len() - 1
    }

    fn all(&mut self, ids: &[TermId]) -> Vec<usize> {
        ids.iter().map(|id| self.number(*id)).collect()
    }
}
