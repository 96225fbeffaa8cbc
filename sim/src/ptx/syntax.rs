//! A parsed module: names are not resolved yet.

use super::types::Type;

/// A module.
#[derive(Debug, Default)]
pub(super) struct Ast<'a> {
    /// Variables of the module, in the order of the text.
    pub variables: Vec<Variable<'a>>,
    /// Kernels and functions.
    pub functions: Vec<Function<'a>>,
    /// Files by their number in `.file`.
    pub files: Vec<(u32, &'a str)>,
}

/// A state space (PTX ISA 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Space {
    Global,
    Const,
    Shared,
    Local,
    Param,
}

/// A declared variable outside registers.
#[derive(Clone, Debug)]
pub(super) struct Variable<'a> {
    pub space: Space,
    pub name: &'a str,
    pub ty: Type,
    pub align: u32,
    /// Elements; `None` for an array without a size.
    pub count: Option<u64>,
    pub external: bool,
    pub init: Vec<Init<'a>>,
}

impl Variable<'_> {
    /// The size; 0 if it is not known.
    pub fn bytes(&self) -> u64 {
        u64::from(self.ty.bytes()) * self.count.unwrap_or(0)
    }
}

/// An element of an initialiser.
#[derive(Clone, Debug)]
pub(super) enum Init<'a> {
    Bits(u64),
    /// The address of a variable plus an offset; generic or not is the same for variables of the module.
    Address {
        name: &'a str,
        offset: i64,
    },
}

/// A kernel or a function.
#[derive(Debug)]
pub(super) struct Function<'a> {
    pub name: &'a str,
    pub entry: bool,
    pub line: u32,
    pub results: Vec<Variable<'a>>,
    pub parameters: Vec<Variable<'a>>,
    pub max_threads: Option<[u32; 3]>,
    pub required_threads: Option<[u32; 3]>,
    /// `None` for a declaration.
    pub body: Option<Vec<Item<'a>>>,
}

/// A part of a body.
#[derive(Debug)]
pub(super) enum Item<'a> {
    /// `{`
    Open,
    /// `}`
    Close,
    Label(&'a str),
    /// Registers: `name` alone, or `name0` to `name(count - 1)`.
    Registers {
        ty: Type,
        name: &'a str,
        count: Option<u32>,
    },
    Variable(Variable<'a>),
    /// `.branchtargets` of a label.
    Targets(&'a str, Vec<&'a str>),
    /// `.loc`: file number and line.
    Location(u32, u32),
    Statement(Statement<'a>),
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Statement<'a> {
    /// The predicate, and whether it is negated.
    pub guard: Option<(&'a str, bool)>,
    pub opcode: &'a str,
    pub operands: Vec<Operand<'a>>,
    pub line: u32,
}

/// An operand (PTX ISA 6).
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand<'a> {
    Name(&'a str),
    /// `!p`
    Not(&'a str),
    Int(i128),
    /// `0f...`, or a decimal number that the instruction's type rounds.
    F32(u32),
    F64(u64),
    Vector(Vec<Operand<'a>>),
    /// `[base + offset]`; without a base an absolute address.
    Address {
        base: Option<&'a str>,
        offset: i64,
    },
    /// `d|p`
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// `(a, b)` of a call.
    Group(Vec<Operand<'a>>),
}
