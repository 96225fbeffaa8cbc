//! Builds simplified terms: folds constants, flattens sums and products, and moves the constants of integer comparisons
//! to the right side.

use super::function::Function;
use super::graph::{ExprGraph, Fold, Op, TermId};
use super::kind::{Kind, SAFE};
use super::python::floor_div;
use super::semantics::Semantics;
use super::value::Value;

impl ExprGraph {
    /// The term that applies a function to terms.
    pub fn apply(&mut self, function: Function, arguments: &[TermId]) -> TermId {
        let semantics = self.semantics;
        if let Some(id) = self.tabulated(arguments, |values| semantics.apply(function, values)) {
            return id;
        }
        let rewritten = match (function, arguments) {
            (Function::Truth, [x]) if self.kind(*x) == Kind::Bool => Some(*x),
            (Function::Neg, [x]) => self.sum(&[(-1, *x)]),
            (Function::Add, [x, y]) => self.sum(&[(1, *x), (1, *y)]),
            (Function::Sub, [x, y]) => self.sum(&[(1, *x), (-1, *y)]),
            (Function::Mul, [x, y]) => self.product(*x, *y),
            (Function::And, [x, y]) => self.logic(Fold::All, *x, *y),
            (Function::Or, [x, y]) => self.logic(Fold::Any, *x, *y),
            (_, [x, y]) => self.comparison(function, *x, *y),
            _ => None,
        };
        rewritten.unwrap_or_else(|| self.add(Op::Apply(function, arguments.to_vec())))
    }

    /// The sum of terms, each multiplied by a factor. `None` if a partial sum may exceed the safe integers in some
    /// order of addition.
    pub(super) fn sum(&mut self, parts: &[(i64, TermId)]) -> Option<TermId> {
        let mut constant = 0i128;
        let mut terms: Vec<(i64, TermId)> = Vec::new();
        for (factor, id) in parts {
            let (least, most) = self.number_range(*id)?;
            let largest = least.abs().max(most.abs()).checked_mul((*factor).into())?;
            if largest.abs() > SAFE {
                return None;
            }
            match &self.term(*id).op {
                Op::Const(_) => {
                    constant += i128::from(*factor) * i128::from(self.known_int(*id)?);
                }
                Op::Linear {
                    constant: inner,
                    terms: parts,
                } => {
                    constant += i128::from(*factor) * i128::from(*inner);
                    for (times, id) in parts {
                        terms.push((factor.checked_mul(*times)?, *id));
                    }
                }
                _ => terms.push((*factor, *id)),
            }
        }
        self.linear(constant, terms)
    }

    fn linear(&mut self, mut constant: i128, terms: Vec<(i64, TermId)>) -> Option<TermId> {
        let mut merged = self.collected(terms)?;
        let mut largest = constant.abs();
        for (factor, id) in &merged {
            let (least, most) = self.number_range(*id)?;
            largest += least.abs().max(most.abs()) * i128::from(factor.unsigned_abs());
        }
        if largest > SAFE {
            return None;
        }
        match merged.as_mut_slice() {
            [] => return Some(self.constant(Value::Int(constant))),
            [(1, id)] if matches!(self.term(*id).op, Op::Table { .. }) => {
                *id = self.integer_table(&[(1, *id)], constant)?;
                constant = 0;
            }
            _ => {}
        }
        match merged.as_slice() {
            [(1, id)] if constant == 0 && self.kind(*id).range().is_some() => return Some(*id),
            _ => {}
        }
        let constant = i64::try_from(constant).ok()?;
        let terms = merged;
        Some(self.add(Op::Linear { constant, terms }))
    }

    /// Merges equal terms, and merges all tables over the same variable.
    fn collected(&mut self, mut terms: Vec<(i64, TermId)>) -> Option<Vec<(i64, TermId)>> {
        terms.sort_by_key(|(_, id)| *id);
        let mut merged: Vec<(i64, TermId)> = Vec::with_capacity(terms.len());
        for (factor, id) in terms {
            match merged.last_mut() {
                Some((sum, last)) if *last == id => *sum = sum.checked_add(factor)?,
                _ => merged.push((factor, id)),
            }
        }
        merged.retain(|(factor, _)| *factor != 0);
        let is_table =
            |graph: &ExprGraph, id: TermId| matches!(graph.term(id).op, Op::Table { .. });
        let (mut tables, mut others): (Vec<_>, Vec<_>) =
            merged.into_iter().partition(|(_, id)| is_table(self, *id));
        tables.sort_by_key(|(_, id)| self.term(*id).vars.iter().next());
        for same in tables
            .chunk_by(|a, b| self.term(a.1).vars == self.term(b.1).vars)
            .map(<[_]>::to_vec)
            .collect::<Vec<_>>()
        {
            let table = self.integer_table(&same, 0)?;
            if self.known_int(table) != Some(0) {
                others.push((1, table));
            }
        }
        others.sort_by_key(|(_, id)| *id);
        Some(others)
    }

    /// The table of a constant plus a sum of tables over one variable, each multiplied by a factor.
    fn integer_table(&mut self, parts: &[(i64, TermId)], constant: i128) -> Option<TermId> {
        let mut sums: Vec<i128> = Vec::new();
        let mut variable = 0;
        for (factor, id) in parts {
            let Op::Table { var, values } = &self.term(*id).op else {
                return None;
            };
            variable = *var;
            sums.resize(values.len(), constant);
            for (sum, value) in sums.iter_mut().zip(values) {
                let value = match value {
                    Some(Value::Int(x)) => *x,
                    Some(Value::Bool(x)) => i128::from(*x),
                    _ => return None,
                };
                *sum += i128::from(*factor) * value;
            }
        }
        let values = sums.into_iter().map(|sum| Some(Value::Int(sum))).collect();
        Some(self.table(variable, values))
    }

    /// The product of two terms. `None` if a partial product of its factors may exceed the safe integers.
    fn product(&mut self, x: TermId, y: TermId) -> Option<TermId> {
        for (constant, other) in [(x, y), (y, x)] {
            if let Some(factor) = self.known_int(constant) {
                return self.sum(&[(factor, other)]);
            }
        }
        let mut factor = 1i64;
        let mut factors = Vec::new();
        for id in [x, y] {
            self.number_range(id)?;
            match &self.term(id).op {
                Op::Fold(Fold::Product, inner) => factors.extend(inner),
                Op::Linear { constant: 0, terms } if terms.len() == 1 => {
                    factor = factor.checked_mul(terms[0].0)?;
                    match &self.term(terms[0].1).op {
                        Op::Fold(Fold::Product, inner) => factors.extend(inner),
                        _ => factors.push(terms[0].1),
                    }
                }
                _ => factors.push(id),
            }
        }
        let mut largest = i128::from(factor).abs();
        for id in &factors {
            let (least, most) = self.number_range(*id)?;
            largest = largest.checked_mul(least.abs().max(most.abs()).max(1))?;
        }
        if largest > SAFE {
            return None;
        }
        factors.sort_unstable();
        let product = self.add(Op::Fold(Fold::Product, factors));
        self.sum(&[(factor, product)])
    }

    /// A conjunction or disjunction. `None` if one of the terms is not known to be a boolean.
    pub(super) fn logic(&mut self, fold: Fold, x: TermId, y: TermId) -> Option<TermId> {
        let mut parts = Vec::new();
        for id in [x, y] {
            if self.kind(id) != Kind::Bool {
                return None;
            }
            match &self.term(id).op {
                Op::Fold(inner, ids) if *inner == fold => parts.extend(ids),
                _ => parts.push(id),
            }
        }
        let deciding = fold == Fold::Any;
        let truth = |graph: &ExprGraph, id: TermId| match graph.known(id) {
            Some(Some(Value::Bool(truth))) => Some(truth),
            _ => None,
        };
        if parts.iter().any(|id| truth(self, *id) == Some(deciding)) {
            return Some(self.constant(Value::Bool(deciding)));
        }
        parts.retain(|id| truth(self, *id).is_none());
        parts.sort_unstable();
        parts.dedup();
        Some(match parts.as_slice() {
            [] => self.constant(Value::Bool(!deciding)),
            [only] => *only,
            _ => self.add(Op::Fold(fold, parts)),
        })
    }

    /// A comparison of integers, rewritten with a sum without a constant on the left side and a constant on the right
    /// side. `None` if it cannot be rewritten.
    fn comparison(&mut self, function: Function, x: TermId, y: TermId) -> Option<TermId> {
        use Function as F;
        if !matches!(function, F::Eq | F::Ne | F::Lt | F::Le | F::Gt | F::Ge) {
            return None;
        }
        if self.semantics == Semantics::Kiln && self.kind(x).range().is_none() {
            return None;
        }
        let difference = self.sum(&[(1, x), (-1, y)])?;
        let (mut left, mut right) = (difference, 0i128);
        if let Op::Linear { constant, terms } = self.term(difference).op.clone() {
            right = -i128::from(constant);
            left = self.linear(0, terms)?;
        }
        let (mut function, mut right) = match function {
            F::Lt => (F::Le, right - 1),
            F::Gt => (F::Ge, right + 1),
            other => (other, right),
        };
        if let Op::Linear { constant: 0, terms } = &self.term(left).op
            && let [(factor, only)] = terms.as_slice()
            && self.kind(*only).range().is_some()
        {
            let (factor, only) = (i128::from(*factor), *only);
            let floor = floor_div(right, factor)?;
            let whole = floor * factor == right;
            function = match (function, factor < 0) {
                (F::Le, true) => F::Ge,
                (F::Ge, true) => F::Le,
                (F::Eq | F::Ne, _) if !whole => {
                    return Some(self.constant(Value::Bool(function == F::Ne)));
                }
                (function, _) => function,
            };
            left = only;
            right = floor + i128::from(function == F::Ge && !whole);
        }
        Some(self.compared(function, left, right))
    }

    /// Compares the term `left` with a constant.
    pub(super) fn compared(&mut self, function: Function, left: TermId, right: i128) -> TermId {
        let (least, most) = self.number_range(left).unwrap_or((i128::MIN, i128::MAX));
        let always = match function {
            Function::Le => most <= right,
            Function::Ge => least >= right,
            Function::Eq => least == right && most == right,
            _ => right < least || right > most,
        };
        let never = match function {
            Function::Le => least > right,
            Function::Ge => most < right,
            Function::Eq => right < least || right > most,
            _ => least == right && most == right,
        };
        if always || never {
            return self.constant(Value::Bool(always));
        }
        let right = self.constant(Value::Int(right));
        let semantics = self.semantics;
        self.tabulated(&[left, right], |values| semantics.apply(function, values))
            .unwrap_or_else(|| self.add(Op::Apply(function, vec![left, right])))
    }
}
