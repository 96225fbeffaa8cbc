//! Derives conditions that follow from a constraint and that can be checked before all of its variables have values.
//! They are derived from bounds of those operands in which the constraint is monotone.

use super::function::Function;
use super::graph::{ExprGraph, Fold, Op, TermId};
use super::value::Value;
use super::varset::VarSet;

/// Which bound of a term is requested.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RelaxedBound {
    Least,
    Most,
}

impl RelaxedBound {
    fn opposite(self) -> RelaxedBound {
        match self {
            RelaxedBound::Least => RelaxedBound::Most,
            RelaxedBound::Most => RelaxedBound::Least,
        }
    }
}

impl ExprGraph {
    /// A condition on only the variables in `known`. It is true whenever the constraint can still become true. `None`
    /// if there is no such condition.
    pub(super) fn relaxed(&mut self, constraint: TermId, known: &VarSet) -> Option<TermId> {
        let term = self.term(constraint);
        if term.vars.within(known) {
            return Some(constraint);
        }
        if !term.vars.meets(known) {
            return None;
        }
        match term.op.clone() {
            Op::Fold(Fold::All, parts) => {
                let mut all = None;
                for part in parts {
                    let Some(part) = self.relaxed(part, known) else {
                        continue;
                    };
                    all = match all {
                        Some(all) => self.logic(Fold::All, all, part),
                        None => Some(part),
                    };
                }
                all
            }
            Op::Fold(Fold::Any, parts) => {
                let mut any = self.constant(Value::Bool(false));
                for part in parts {
                    let part = self.relaxed(part, known)?;
                    any = self.logic(Fold::Any, any, part)?;
                }
                Some(any)
            }
            Op::Apply(function, arguments) => match arguments.as_slice() {
                [left, right] => {
                    let right = self.known_int(*right)?;
                    self.relaxed_comparison(function, *left, right.into(), known)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn relaxed_comparison(
        &mut self,
        function: Function,
        left: TermId,
        right: i128,
        known: &VarSet,
    ) -> Option<TermId> {
        self.number_range(left)?;
        match function {
            Function::Le => {
                let least = self.bound(left, known, RelaxedBound::Least)?;
                Some(self.compared(Function::Le, least, right))
            }
            Function::Ge => {
                let most = self.bound(left, known, RelaxedBound::Most)?;
                Some(self.compared(Function::Ge, most, right))
            }
            Function::Eq => {
                let below = self.relaxed_comparison(Function::Le, left, right, known)?;
                let above = self.relaxed_comparison(Function::Ge, left, right, known)?;
                self.logic(Fold::All, below, above)
            }
            _ => None,
        }
    }

    /// A term over only the variables in `known` that bounds the given term for all values of the other variables.
    fn bound(&mut self, id: TermId, known: &VarSet, bound: RelaxedBound) -> Option<TermId> {
        let (least, most) = self.number_range(id)?;
        let term = self.term(id);
        if term.vars.within(known) {
            return Some(id);
        }
        let found = match term.op.clone() {
            _ if !term.vars.meets(known) => None,
            Op::Linear { constant, terms } => self.bound_of_sum(constant, &terms, known, bound),
            Op::Fold(Fold::Product, factors) => self.bound_of_product(&factors, known, bound),
            Op::Apply(function, arguments) => match arguments.as_slice() {
                [x, y] => self.bound_of_pair(function, *x, *y, known, bound),
                _ => None,
            },
            _ => None,
        };
        Some(found.unwrap_or_else(|| {
            let end = if bound == RelaxedBound::Least {
                least
            } else {
                most
            };
            self.constant(Value::Int(end))
        }))
    }

    fn bound_of_sum(
        &mut self,
        constant: i64,
        terms: &[(i64, TermId)],
        known: &VarSet,
        bound: RelaxedBound,
    ) -> Option<TermId> {
        let constant = self.constant(Value::Int(constant.into()));
        let mut parts = vec![(1, constant)];
        for (factor, id) in terms {
            let bound = if *factor < 0 { bound.opposite() } else { bound };
            parts.push((*factor, self.bound(*id, known, bound)?));
        }
        self.sum(&parts)
    }

    fn bound_of_product(
        &mut self,
        factors: &[TermId],
        known: &VarSet,
        bound: RelaxedBound,
    ) -> Option<TermId> {
        let mut product = self.constant(Value::Int(1));
        for id in factors {
            if self.number_range(*id)?.0 < 0 {
                return None;
            }
            let factor = self.bound(*id, known, bound)?;
            product = self.apply(Function::Mul, &[product, factor]);
        }
        Some(product)
    }

    fn bound_of_pair(
        &mut self,
        function: Function,
        x: TermId,
        y: TermId,
        known: &VarSet,
        bound: RelaxedBound,
    ) -> Option<TermId> {
        let of_y = match function {
            Function::Min | Function::Max => bound,
            Function::Shl => (self.number_range(x)?.0 >= 0).then_some(bound)?,
            Function::Shr => (self.number_range(x)?.0 >= 0).then_some(bound.opposite())?,
            Function::FloorDiv | Function::TruncDiv | Function::DivCeil => {
                let positive = self.number_range(x)?.0 >= 0 && self.number_range(y)?.0 >= 1;
                positive.then_some(bound.opposite())?
            }
            _ => return None,
        };
        let x = self.bound(x, known, bound)?;
        let y = self.bound(y, known, of_y)?;
        Some(self.apply(function, &[x, y]))
    }
}
