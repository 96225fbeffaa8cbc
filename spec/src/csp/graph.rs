//! The expressions of all constraints as one graph. Equal subexpressions are one term. A term that depends on only one
//! parameter is a table of its results. Sums and products of integers are flat lists of operands, so that the operands
//! that are already known can be combined first, whatever the order of the parameters.

use super::function::Function;
use super::hashing::WordMap;
use super::kind::{self, Kind};
use super::semantics::Semantics;
use super::value::{Outcome, Value};
use super::varset::VarSet;

/// The identifier of a term in an [`ExprGraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId(pub(super) u32);

/// The operation that computes a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Op {
    Const(Outcome),
    /// A function of one variable, as a list with its result for each value of the variable.
    Table {
        var: usize,
        values: Vec<Outcome>,
    },
    /// A constant plus a sum of terms, each with a factor. No partial sum exceeds the safe integers (`SAFE` in `kind`).
    Linear {
        constant: i64,
        terms: Vec<(i64, TermId)>,
    },
    /// An associative and commutative function of terms that are all known to have the kind that the function needs.
    Fold(Fold, Vec<TermId>),
    Apply(Function, Vec<TermId>),
}

/// An associative and commutative function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fold {
    /// The product of integers. No partial product exceeds the safe integers (`SAFE` in `kind`).
    Product,
    /// Whether any of the booleans is true.
    Any,
    /// Whether all of the booleans are true.
    All,
}

#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) op: Op,
    pub(super) kind: Kind,
    pub(super) vars: VarSet,
}

/// Expressions over the parameters of a model. The variables are the parameters with more than one value.
#[derive(Clone, Debug)]
pub struct ExprGraph {
    pub(super) semantics: Semantics,
    pub(super) terms: Vec<Term>,
    known: WordMap<Op, TermId>,
    /// For each parameter, its term.
    params: Vec<TermId>,
    /// For each variable, its parameter.
    pub(super) variables: Vec<usize>,
}

impl ExprGraph {
    /// A graph for parameters with these values. At most `CAPACITY` of them may have more than one value.
    pub(super) fn new(semantics: Semantics, params: &[Vec<Value>]) -> ExprGraph {
        let mut graph = ExprGraph {
            semantics,
            terms: Vec::new(),
            known: WordMap::default(),
            params: Vec::new(),
            variables: Vec::new(),
        };
        for (param, values) in params.iter().enumerate() {
            let term = match values.as_slice() {
                [value] => graph.constant(*value),
                _ => {
                    let var = graph.variables.len();
                    graph.variables.push(param);
                    let values = values.iter().copied().map(Some).collect();
                    graph.add(Op::Table { var, values })
                }
            };
            graph.params.push(term);
        }
        graph
    }

    /// The term whose value is the value of a parameter.
    ///
    /// # Panics
    /// If the parameter does not exist.
    pub fn param(&self, index: usize) -> TermId {
        self.params[index]
    }

    /// The term of a constant.
    pub fn constant(&mut self, value: Value) -> TermId {
        self.add(Op::Const(Some(value)))
    }

    /// The term of an expression that has no value. No config satisfies a constraint that needs such a term.
    pub fn missing(&mut self) -> TermId {
        self.add(Op::Const(None))
    }

    /// The value of a term that is known to be a constant. `None` if the term may depend on the config or has no value.
    pub fn value(&self, id: TermId) -> Outcome {
        self.known(id).flatten()
    }

    /// The term that applies a function to the value of a parameter.
    ///
    /// # Panics
    /// If the parameter does not exist.
    pub fn of_param(&mut self, index: usize, f: impl Fn(Value) -> Outcome) -> TermId {
        let of = |value: &Outcome| value.and_then(&f);
        match &self.term(self.params[index]).op {
            Op::Table { var, values } => {
                let (var, values) = (*var, values.iter().map(of).collect());
                self.table(var, values)
            }
            Op::Const(value) => {
                let value = of(value);
                self.add(Op::Const(value))
            }
            _ => self.missing(),
        }
    }

    pub(super) fn term(&self, id: TermId) -> &Term {
        &self.terms[id.0 as usize]
    }

    pub(super) fn kind(&self, id: TermId) -> Kind {
        self.term(id).kind
    }

    /// The outcome of a term that depends on no variable; `None` if it depends on one.
    pub(super) fn known(&self, id: TermId) -> Option<Outcome> {
        match self.term(id).op {
            Op::Const(value) => Some(value),
            _ => None,
        }
    }

    /// The value of a term that is a constant integer; `None` for other terms.
    pub(super) fn known_int(&self, id: TermId) -> Option<i64> {
        match (&self.term(id).op, self.kind(id)) {
            (Op::Const(_), Kind::Int { least, .. }) => Some(least),
            (Op::Const(Some(Value::Bool(x))), _) if self.semantics == Semantics::Python => {
                Some((*x).into())
            }
            _ => None,
        }
    }

    /// The outcome of a constant or table at one place (the index of a value) of the table's variable.
    fn at(&self, id: TermId, place: usize) -> Outcome {
        match &self.term(id).op {
            Op::Const(value) => *value,
            Op::Table { values, .. } => values.get(place).copied().flatten(),
            _ => None,
        }
    }

    pub(super) fn table(&mut self, var: usize, values: Vec<Outcome>) -> TermId {
        match values.first() {
            Some(first) if values.iter().all(|value| value == first) => {
                let value = *first;
                self.add(Op::Const(value))
            }
            _ => self.add(Op::Table { var, values }),
        }
    }

    /// Applies `f` to the arguments, which gives a constant or a table. `None` if there are more than three arguments,
    /// if one of them is neither a constant nor a table, or if they depend on more than one variable.
    pub(super) fn tabulated(
        &mut self,
        arguments: &[TermId],
        f: impl Fn(&[Outcome]) -> Outcome,
    ) -> Option<TermId> {
        let mut varying = arguments.iter().filter_map(|id| match &self.term(*id).op {
            Op::Table { var, values } => Some((*var, values.len())),
            _ => None,
        });
        let of = |place: usize| -> Outcome {
            let mut values = [None; 3];
            for (value, id) in values.iter_mut().zip(arguments) {
                *value = self.at(*id, place);
            }
            f(&values[..arguments.len().min(3)])
        };
        let is_read = |id: &TermId| matches!(self.term(*id).op, Op::Const(_) | Op::Table { .. });
        if !arguments.iter().all(is_read) || arguments.len() > 3 {
            return None;
        }
        match varying.next() {
            None => {
                let value = of(0);
                Some(self.add(Op::Const(value)))
            }
            Some((var, places)) if varying.all(|other| other.0 == var) => {
                let values = (0..places).map(of).collect();
                Some(self.table(var, values))
            }
            Some(_) => None,
        }
    }

    /// The term for an operation. Equal operations have the same term.
    pub(super) fn add(&mut self, op: Op) -> TermId {
        if let Some(id) = self.known.get(&op) {
            return *id;
        }
        let kind = self.kind_of(&op);
        let vars = match &op {
            Op::Const(_) => VarSet::default(),
            Op::Table { var, .. } => VarSet::one(*var),
            Op::Linear { terms, .. } => self.vars_of(terms.iter().map(|(_, id)| id)),
            Op::Fold(_, ids) | Op::Apply(_, ids) => self.vars_of(ids),
        };
        let id = TermId(u32::try_from(self.terms.len()).unwrap_or(u32::MAX));
        self.known.insert(op.clone(), id);
        self.terms.push(Term { op, kind, vars });
        id
    }

    fn vars_of<'a>(&self, ids: impl IntoIterator<Item = &'a TermId>) -> VarSet {
        let vars = ids.into_iter().map(|id| self.term(*id).vars);
        vars.fold(VarSet::default(), VarSet::union)
    }

    fn kind_of(&self, op: &Op) -> Kind {
        match op {
            Op::Const(value) => Kind::of_all([*value]),
            Op::Table { values, .. } => Kind::of_all(values.iter().copied()),
            Op::Linear { constant, terms } => {
                let (least, most) = terms.iter().fold(
                    (i128::from(*constant), i128::from(*constant)),
                    |(least, most), (factor, id)| {
                        let (a, b) = self.number_range(*id).unwrap_or((0, 0));
                        let (a, b) = (a * i128::from(*factor), b * i128::from(*factor));
                        (least + a.min(b), most + a.max(b))
                    },
                );
                Kind::ints(least, most)
            }
            Op::Fold(Fold::Product, ids) => {
                let kinds = ids.iter().map(|id| self.kind(*id).number(self.semantics));
                kinds
                    .reduce(|x, y| kind::result(self.semantics, Function::Mul, &[x, y]))
                    .unwrap_or(Kind::Any)
            }
            Op::Fold(Fold::Any | Fold::All, _) => Kind::Bool,
            Op::Apply(function, ids) => {
                let kinds: Vec<_> = ids.iter().map(|id| self.kind(*id)).collect();
                kind::result(self.semantics, *function, &kinds)
            }
        }
    }

    /// The range of a term that is always an integer; `None` for other terms. In Python, booleans are integers too.
    pub(super) fn number_range(&self, id: TermId) -> Option<(i128, i128)> {
        self.kind(id).number(self.semantics).range()
    }
}
