//! Registers: 64-bit results of the steps that build a graph.

use super::function::Function;
use super::kind::Kind;

/// How a register's bits represent a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Repr {
    Int,
    Float,
    Bool,
    Name,
    /// An index into the list of values found so far ([`Values`]). It can represent a value of any kind, or no value.
    Any,
}

impl Repr {
    pub(super) fn of(kind: Kind) -> Repr {
        match kind {
            Kind::Int { .. } => Repr::Int,
            Kind::Float { .. } => Repr::Float,
            Kind::Bool => Repr::Bool,
            Kind::Name => Repr::Name,
            Kind::Any => Repr::Any,
        }
    }
}

/// An operation on registers of known kinds, which always has a result. A unary operation uses only the left operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Code {
    AddInt,
    MulInt,
    DivInt,
    RemInt,
    FloorDivInt,
    FloorModInt,
    DivCeilInt,
    MinInt,
    MaxInt,
    And,
    Or,
    Eq,
    Ne,
    LtInt,
    LeInt,
    GtInt,
    GeInt,
    /// The absolute value of the left operand.
    AbsInt,
    /// The left operand as a double.
    IntToFloat,
    AddFloat,
    SubFloat,
    MulFloat,
    DivFloat,
    FloorDivFloat,
    FloorModFloat,
    MinFloat,
    MaxFloat,
    /// The negative of the left operand.
    NegFloat,
    /// The absolute value of the left operand.
    AbsFloat,
    EqFloat,
    NeFloat,
    LtFloat,
    LeFloat,
    GtFloat,
    GeFloat,
}

impl Code {
    /// The operation for a function of integers. `plain` states that the operands have signs for which all kinds of
    /// division give the same result.
    pub(super) fn of_ints(function: Function, plain: bool) -> Option<Code> {
        Some(match function {
            Function::FloorDiv | Function::TruncDiv if plain => Code::DivInt,
            Function::FloorMod | Function::TruncRem if plain => Code::RemInt,
            Function::FloorDiv => Code::FloorDivInt,
            Function::FloorMod => Code::FloorModInt,
            Function::TruncDiv => Code::DivInt,
            Function::TruncRem => Code::RemInt,
            Function::DivCeil => Code::DivCeilInt,
            Function::Add => Code::AddInt,
            Function::Mul => Code::MulInt,
            Function::Min => Code::MinInt,
            Function::Max => Code::MaxInt,
            Function::Abs => Code::AbsInt,
            Function::Eq => Code::Eq,
            Function::Ne => Code::Ne,
            Function::Lt => Code::LtInt,
            Function::Le => Code::LeInt,
            Function::Gt => Code::GtInt,
            Function::Ge => Code::GeInt,
            _ => return None,
        })
    }

    /// The operation for a function of doubles.
    pub(super) fn of_floats(function: Function) -> Option<Code> {
        Some(match function {
            Function::Add => Code::AddFloat,
            Function::Sub => Code::SubFloat,
            Function::Mul => Code::MulFloat,
            Function::TrueDiv => Code::DivFloat,
            Function::FloorDiv => Code::FloorDivFloat,
            Function::FloorMod => Code::FloorModFloat,
            Function::Min => Code::MinFloat,
            Function::Max => Code::MaxFloat,
            Function::Neg => Code::NegFloat,
            Function::Abs => Code::AbsFloat,
            Function::Eq => Code::EqFloat,
            Function::Ne => Code::NeFloat,
            Function::Lt => Code::LtFloat,
            Function::Le => Code::LeFloat,
            Function::Gt => Code::GtFloat,
            Function::Ge => Code::GeFloat,
            _ => return None,
        })
    }
}

/// The index of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Reg(pub(super) u32);

/// How a register gets its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum RegisterSource {
    Const(i64),
    /// One result for each value of the variable that is set at the register's level.
    Table(Vec<i64>),
    Code(Code, [Reg; 2]),
    /// A function whose arguments may have any kind or no value.
    General(Function, Vec<Reg>),
}

#[derive(Clone, Debug)]
pub(super) struct Register {
    pub(super) source: RegisterSource,
    pub(super) repr: Repr,
    /// The level at which the register can be computed; `None` for a constant.
    pub(super) level: Option<usize>,
}

/// A list of the values that are represented by their index ([`Repr::Any`]).
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    known: Vec<super::value::Outcome>,
    numbers: super::hashing::WordMap<super::value::Outcome, i64>,
}

impl Values {
    /// The bits that represent a value as `repr`.
    pub(super) fn encode(&mut self, value: super::value::Outcome, repr: Repr) -> i64 {
        use super::value::Value;
        match (repr, value) {
            (Repr::Int, Some(Value::Int(x))) => x as i64,
            (Repr::Int, Some(Value::Bool(x))) => x.into(),
            (Repr::Float, Some(Value::Float(x))) => x.to_bits() as i64,
            (Repr::Bool, Some(Value::Bool(x))) => x.into(),
            (Repr::Name, Some(Value::Name(x))) => x.into(),
            (_, value) => *self.numbers.entry(value).or_insert_with(|| {
                self.known.push(value);
                self.known.len() as i64 - 1
            }),
        }
    }

    /// The value that these bits represent as `repr`.
    pub(super) fn decode(&self, bits: i64, repr: Repr) -> super::value::Outcome {
        use super::value::Value;
        match repr {
            Repr::Int => Some(Value::Int(bits.into())),
            Repr::Float => Some(Value::Float(f64::from_bits(bits as u64))),
            Repr::Bool => Some(Value::Bool(bits != 0)),
            Repr::Name => Some(Value::Name(bits as u32)),
            Repr::Any => usize::try_from(bits)
                .ok()
                .and_then(|number| *self.known.get(number)?),
        }
    }
}
