//! Expressions with names resolved to axes: what the enumeration evaluates, millions of times.
//!
//! Problem sizes, device limits and choices are folded into constants; what is left reads values by
//! slot. The arithmetic is the evaluator's own, so both agree (tested on random expressions).

use crate::expr::arithmetic::{Fault, IntResult, call_pair, integers, next_power_of_two};
use crate::expr::{BinaryOp, Expr, Function, Scope, UnaryOp, Value};
use crate::model::ElemType;

/// A value that is cheap to copy: names are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Int(i128),
    Bool(bool),
    Name(u32),
}

/// Numbers for the names of choices and element types.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Vec<String>);

impl Names {
    pub(super) fn cell(&mut self, value: &Value) -> Cell {
        match value {
            Value::Int(x) => Cell::Int(*x),
            Value::Bool(x) => Cell::Bool(*x),
            Value::Name(name) => {
                let known = self.0.iter().position(|n| **n == **name);
                let index = known.unwrap_or_else(|| {
                    self.0.push(name.to_string());
                    self.0.len() - 1
                });
                Cell::Name(u32::try_from(index).unwrap_or(u32::MAX))
            }
        }
    }

    /// For each name, the bytes of the element type it names, if it names one.
    pub(super) fn sizes(&self) -> Vec<Option<i128>> {
        let types = self.0.iter().map(|name| ElemType::from_name(name));
        types.map(|ty| ty.map(|ty| ty.bytes() as i128)).collect()
    }
}

/// An expression ready to evaluate.
#[derive(Clone, Debug)]
pub(super) enum Compiled {
    Const(Cell),
    /// The value of the axis with this number.
    Slot(usize),
    /// A name or limit that has no value here.
    Missing,
    Unary(UnaryOp, Box<Compiled>),
    Binary(BinaryOp, Box<(Compiled, Compiled)>),
    Call(Function, Vec<Compiled>),
}

/// What an expression is compiled against.
pub(super) struct Context<'a> {
    /// Parameter names in axis order.
    pub(super) axes: &'a [&'a str],
    /// Problem sizes, limits and choices.
    pub(super) constants: &'a dyn Scope,
    pub(super) names: &'a mut Names,
}

impl Context<'_> {
    pub(super) fn compile(&mut self, expr: &Expr) -> Compiled {
        let compiled = match expr {
            Expr::Int(x) => return Compiled::Const(Cell::Int((*x).into())),
            Expr::Bool(x) => return Compiled::Const(Cell::Bool(*x)),
            Expr::Name(name) => return self.name(name),
            Expr::Device(limit) => {
                return match self.constants.device() {
                    Some(limits) => Compiled::Const(Cell::Int(limit.of(limits).into())),
                    None => Compiled::Missing,
                };
            }
            Expr::Unary(op, x) => Compiled::Unary(*op, Box::new(self.compile(x))),
            Expr::Binary(op, x, y) => {
                Compiled::Binary(*op, Box::new((self.compile(x), self.compile(y))))
            }
            Expr::Call(function, arguments) => {
                let arguments = arguments.iter().map(|x| self.compile(x)).collect();
                Compiled::Call(*function, arguments)
            }
        };
        compiled.folded(&self.names.sizes())
    }

    fn name(&mut self, name: &str) -> Compiled {
        if let Some(slot) = self.axes.iter().position(|axis| *axis == name) {
            return Compiled::Slot(slot);
        }
        match self.constants.value(name) {
            Some(value) => Compiled::Const(self.names.cell(&value)),
            None => Compiled::Missing,
        }
    }
}

impl Compiled {
    /// A constant in place of an expression without slots; one without a value stays as it is.
    fn folded(self, sizes: &[Option<i128>]) -> Compiled {
        if self.last_slot().is_some() {
            return self;
        }
        match self.evaluate(&[], sizes) {
            Ok(cell) => Compiled::Const(cell),
            Err(_) => self,
        }
    }

    /// The last axis it reads: where the enumeration can evaluate it.
    pub(super) fn last_slot(&self) -> Option<usize> {
        match self {
            Compiled::Const(_) | Compiled::Missing => None,
            Compiled::Slot(slot) => Some(*slot),
            Compiled::Unary(_, x) => x.last_slot(),
            Compiled::Binary(_, pair) => pair.0.last_slot().max(pair.1.last_slot()),
            Compiled::Call(_, arguments) => arguments.iter().filter_map(Compiled::last_slot).max(),
        }
    }

    /// Whether a part of it has no value in any config.
    pub(super) fn is_missing(&self) -> bool {
        match self {
            Compiled::Const(_) | Compiled::Slot(_) => false,
            Compiled::Missing => true,
            Compiled::Unary(_, x) => x.is_missing(),
            Compiled::Binary(_, pair) => pair.0.is_missing() || pair.1.is_missing(),
            Compiled::Call(_, arguments) => arguments.iter().any(Compiled::is_missing),
        }
    }

    /// Its value where the axes have these values.
    pub(super) fn evaluate(&self, slots: &[Cell], sizes: &[Option<i128>]) -> Result<Cell, Fault> {
        match self {
            Compiled::Const(cell) => Ok(*cell),
            Compiled::Slot(slot) => Ok(slots[*slot]),
            Compiled::Missing => Err(Fault::Kind),
            Compiled::Unary(UnaryOp::Not, x) => Ok(Cell::Bool(!x.bool(slots, sizes)?)),
            Compiled::Unary(UnaryOp::Neg, x) => {
                let negated = x.int(slots, sizes)?.checked_neg();
                negated.map(Cell::Int).ok_or(Fault::Overflow)
            }
            Compiled::Binary(op @ (BinaryOp::And | BinaryOp::Or), pair) => {
                let left = pair.0.bool(slots, sizes)?;
                if left == (*op == BinaryOp::Or) {
                    return Ok(Cell::Bool(left));
                }
                pair.1.bool(slots, sizes).map(Cell::Bool)
            }
            Compiled::Binary(op, pair) => {
                let left = pair.0.evaluate(slots, sizes)?;
                binary(*op, left, pair.1.evaluate(slots, sizes)?)
            }
            Compiled::Call(function, arguments) => call(*function, arguments, slots, sizes),
        }
    }

    pub(super) fn int(&self, slots: &[Cell], sizes: &[Option<i128>]) -> Result<i128, Fault> {
        match self.evaluate(slots, sizes)? {
            Cell::Int(x) => Ok(x),
            _ => Err(Fault::Kind),
        }
    }

    pub(super) fn bool(&self, slots: &[Cell], sizes: &[Option<i128>]) -> Result<bool, Fault> {
        match self.evaluate(slots, sizes)? {
            Cell::Bool(x) => Ok(x),
            _ => Err(Fault::Kind),
        }
    }
}

fn binary(op: BinaryOp, x: Cell, y: Cell) -> Result<Cell, Fault> {
    match (op, x, y) {
        (_, Cell::Int(x), Cell::Int(y)) => Ok(match integers(op, x, y)? {
            IntResult::Int(x) => Cell::Int(x),
            IntResult::Bool(x) => Cell::Bool(x),
        }),
        (BinaryOp::Eq | BinaryOp::Ne, Cell::Bool(_), Cell::Bool(_))
        | (BinaryOp::Eq | BinaryOp::Ne, Cell::Name(_), Cell::Name(_)) => {
            Ok(Cell::Bool((x == y) == (op == BinaryOp::Eq)))
        }
        _ => Err(Fault::Kind),
    }
}

fn call(
    function: Function,
    arguments: &[Compiled],
    slots: &[Cell],
    sizes: &[Option<i128>],
) -> Result<Cell, Fault> {
    if !function.accepts(arguments.len()) {
        return Err(Fault::Kind);
    }
    if function == Function::SizeOf {
        return match arguments[0].evaluate(slots, sizes)? {
            Cell::Name(name) => sizes
                .get(name as usize)
                .copied()
                .flatten()
                .map(Cell::Int)
                .ok_or(Fault::Kind),
            _ => Err(Fault::Kind),
        };
    }
    let mut result = arguments[0].int(slots, sizes)?;
    if function == Function::NextPowerOfTwo {
        result = next_power_of_two(result)?;
    }
    for argument in &arguments[1..] {
        result = call_pair(function, result, argument.int(slots, sizes)?)?;
    }
    Ok(Cell::Int(result))
}
