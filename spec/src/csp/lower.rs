//! Converts terms to registers, for a fixed order of the variables. Each register is computed at the level of the last
//! variable on which it depends. The operands of sums and products are combined in the order in which they become
//! known.

use super::function::Function;
use super::graph::{ExprGraph, Fold, Op, TermId};
use super::hashing::WordMap;
use super::kind::Kind;
use super::register::{Code, Reg, Register, RegisterSource, Repr, Values};
use super::semantics::Semantics;
use super::value::Value;

/// The registers of one component. `checks` lists the registers whose value must be true.
#[derive(Debug)]
pub(super) struct Lowered {
    pub(super) registers: Vec<Register>,
    pub(super) checks: Vec<Reg>,
    pub(super) values: Values,
    pub(super) semantics: Semantics,
}

/// Converts constraints to registers. `levels` is the level of each variable.
pub(super) fn lower(graph: &ExprGraph, constraints: &[TermId], levels: &[usize]) -> Lowered {
    let mut lowering = ExprLowering {
        graph,
        levels,
        lowered: Lowered {
            registers: Vec::new(),
            checks: Vec::new(),
            values: Values::default(),
            semantics: graph.semantics,
        },
        sources: WordMap::default(),
        terms: WordMap::default(),
    };
    for constraint in constraints {
        let check = lowering.term(*constraint);
        if !lowering.lowered.checks.contains(&check) {
            lowering.lowered.checks.push(check);
        }
    }
    lowering.lowered
}

struct ExprLowering<'a> {
    graph: &'a ExprGraph,
    levels: &'a [usize],
    lowered: Lowered,
    sources: WordMap<(RegisterSource, Repr, Option<usize>), Reg>,
    terms: WordMap<TermId, Reg>,
}

impl ExprLowering<'_> {
    fn term(&mut self, id: TermId) -> Reg {
        if let Some(reg) = self.terms.get(&id) {
            return *reg;
        }
        let term = self.graph.term(id);
        let repr = Repr::of(term.kind);
        let reg = match &term.op {
            Op::Const(value) => {
                let bits = self.lowered.values.encode(*value, repr);
                self.register(RegisterSource::Const(bits), repr, None)
            }
            Op::Table { var, values } => {
                let encode = |value: &_| self.lowered.values.encode(*value, repr);
                let bits = values.iter().map(encode).collect();
                self.register(RegisterSource::Table(bits), repr, Some(self.levels[*var]))
            }
            Op::Linear { constant, terms } => self.sum(*constant, terms),
            Op::Fold(fold, ids) => {
                let code = match fold {
                    Fold::Product => Code::MulInt,
                    Fold::Any => Code::Or,
                    Fold::All => Code::And,
                };
                let parts = ids.iter().map(|id| self.term(*id)).collect();
                self.chain(code, parts, repr)
            }
            Op::Apply(function, ids) => self.apply(*function, ids, term.kind),
        };
        self.terms.insert(id, reg);
        reg
    }

    fn register(&mut self, source: RegisterSource, repr: Repr, level: Option<usize>) -> Reg {
        let key = (source, repr, level);
        if let Some(reg) = self.sources.get(&key) {
            return *reg;
        }
        let reg = Reg(u32::try_from(self.lowered.registers.len()).unwrap_or(u32::MAX));
        self.lowered.registers.push(Register {
            source: key.0.clone(),
            repr,
            level,
        });
        self.sources.insert(key, reg);
        reg
    }

    fn level(&self, reg: Reg) -> Option<usize> {
        self.lowered.registers[reg.0 as usize].level
    }

    fn code(&mut self, code: Code, x: Reg, y: Reg, repr: Repr) -> Reg {
        let level = self.level(x).max(self.level(y));
        self.register(RegisterSource::Code(code, [x, y]), repr, level)
    }

    fn sum(&mut self, constant: i64, terms: &[(i64, TermId)]) -> Reg {
        let mut parts = Vec::with_capacity(terms.len());
        for (factor, id) in terms {
            let part = self.term(*id);
            parts.push(if *factor == 1 {
                part
            } else {
                let factor = self.register(RegisterSource::Const(*factor), Repr::Int, None);
                self.code(Code::MulInt, part, factor, Repr::Int)
            });
        }
        let sum = self.chain(Code::AddInt, parts, Repr::Int);
        if constant == 0 {
            return sum;
        }
        let constant = self.register(RegisterSource::Const(constant), Repr::Int, None);
        self.code(Code::AddInt, sum, constant, Repr::Int)
    }

    /// Combines registers with an associative operation, in the order in which they become known.
    fn chain(&mut self, code: Code, mut parts: Vec<Reg>, repr: Repr) -> Reg {
        parts.sort_by_key(|reg| (self.level(*reg), *reg));
        // Combine the operands of one level first. Adding the result to that of the earlier levels then takes only one
        // operation per state.
        let mut whole: Option<Reg> = None;
        let mut parts = parts.into_iter().peekable();
        while let Some(first) = parts.next() {
            let mut own = first;
            while let Some(part) = parts.next_if(|part| self.level(*part) == self.level(first)) {
                own = self.code(code, own, part, repr);
            }
            whole = Some(match whole {
                Some(whole) => self.code(code, whole, own, repr),
                None => own,
            });
        }
        whole.unwrap_or(Reg(0))
    }

    fn apply(&mut self, function: Function, ids: &[TermId], kind: Kind) -> Reg {
        let typed = match ids {
            _ if kind == Kind::Any => None,
            [x] => self.unary(function, *x, kind),
            [x, y] => self.binary(function, *x, *y, kind),
            _ => None,
        };
        if let Some(reg) = typed {
            return reg;
        }
        let arguments: Vec<Reg> = ids.iter().map(|id| self.term(*id)).collect();
        let level = arguments.iter().map(|reg| self.level(*reg)).max().flatten();
        self.register(
            RegisterSource::General(function, arguments),
            Repr::of(kind),
            level,
        )
    }

    fn unary(&mut self, function: Function, x: TermId, kind: Kind) -> Option<Reg> {
        let code = match (function, self.graph.kind(x)) {
            (Function::Not, Kind::Bool) => {
                let x = self.term(x);
                let no = self.register(RegisterSource::Const(0), Repr::Int, None);
                return Some(self.code(Code::Eq, x, no, Repr::Bool));
            }
            (Function::Neg, Kind::Float { .. }) => Code::NegFloat,
            (Function::Abs, Kind::Float { .. }) => Code::AbsFloat,
            (Function::Abs, Kind::Int { .. }) => Code::AbsInt,
            _ => return None,
        };
        let x = self.term(x);
        Some(self.code(code, x, x, Repr::of(kind)))
    }

    fn binary(&mut self, function: Function, x: TermId, y: TermId, kind: Kind) -> Option<Reg> {
        let range = |id| self.graph.number_range(id);
        let code = match (self.graph.kind(x), self.graph.kind(y)) {
            (Kind::Bool, Kind::Bool) | (Kind::Name, Kind::Name)
                if matches!(function, Function::Eq | Function::Ne) =>
            {
                Code::of_ints(function, true)?
            }
            _ => match (range(x), range(y)) {
                (Some((least, _)), Some((divisor, _))) if function != Function::TrueDiv => {
                    Code::of_ints(function, least >= 0 && divisor > 0)?
                }
                _ => {
                    let (x, y) = (self.float(x)?, self.float(y)?);
                    return Some(self.code(Code::of_floats(function)?, x, y, Repr::of(kind)));
                }
            },
        };
        let (x, y) = (self.term(x), self.term(y));
        Some(self.code(code, x, y, Repr::of(kind)))
    }

    /// The register that contains a number as a double. `None` if the term is not a number. The term's kind guarantees
    /// that the conversion is exact.
    fn float(&mut self, id: TermId) -> Option<Reg> {
        let reg = self.term(id);
        match self.lowered.registers[reg.0 as usize].repr {
            Repr::Float => Some(reg),
            Repr::Int | Repr::Bool => {
                // Convert a constant here, because a register without a level is never computed at run time.
                let known = match self.lowered.registers[reg.0 as usize].source {
                    RegisterSource::Const(x) => Some(x),
                    _ => None,
                };
                Some(match known {
                    Some(x) => {
                        let bits = (x as f64).to_bits() as i64;
                        self.register(RegisterSource::Const(bits), Repr::Float, None)
                    }
                    None => self.code(Code::IntToFloat, reg, reg, Repr::Float),
                })
            }
            Repr::Name | Repr::Any => None,
        }
    }
}

impl Lowered {
    pub(super) fn register(&self, reg: Reg) -> &Register {
        &self.registers[reg.0 as usize]
    }

    /// The registers that are the operands of a register.
    pub(super) fn operands(&self, reg: Reg) -> &[Reg] {
        match &self.register(reg).source {
            RegisterSource::Const(_) | RegisterSource::Table(_) => &[],
            RegisterSource::Code(_, operands) => operands,
            RegisterSource::General(_, arguments) => arguments,
        }
    }

    /// The bits of `true` in the representation [`Repr::Any`].
    pub(super) fn truth(&mut self) -> i64 {
        self.values.encode(Some(Value::Bool(true)), Repr::Any)
    }
}
