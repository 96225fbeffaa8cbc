//! A parsed module, before names are resolved.

use super::types::Type;

/// A parsed module.
#[derive(Debug, Default)]
pub(super) struct Ast<'a> {
    /// The variables of the module, in the order of the text.
    pub variables: Vec<Variable<'a>>,
    /// The kernels and the functions.
    pub functions: Vec<Function<'a>>,
    /// The file names, with their numbers in `.file` directives.
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

/// A declared variable that is not a register.
#[derive(Clone, Debug)]
pub(super) struct Variable<'a> {
    pub space: Space,
    pub name: &'a str,
    pub ty: Type,
    pub align: u32,
    /// Number of elements, or `None` for an array without a size.
    pub count: Option<u64>,
    pub external: bool,
    pub init: Vec<Init<'a>>,
}

impl Variable<'_> {
    /// The size in bytes, or 0 for an array without a size.
    pub fn bytes(&self) -> u64 {
        u64::from(self.ty.bytes()) * self.count.unwrap_or(0)
    }
}

/// An element of an initialiser.
#[derive(Clone, Debug)]
pub(super) enum Init<'a> {
    Bits(u64),
    /// The address of a variable, plus an offset. For variables of the module, generic and specific addresses are
    /// equal.
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
    /// Blocks per cluster, from `.reqnctapercluster`.
    pub cluster: Option<[u32; 3]>,
    /// Whether the grid counts clusters (`.blocksareclusters`).
    pub grid_of_clusters: bool,
    /// `None` for a declaration without a body.
    pub body: Option<Vec<Item<'a>>>,
}

/// An item of a body.
#[derive(Debug)]
pub(super) enum Item<'a> {
    /// `{`
    Open,
    /// `}`
    Close,
    Label(&'a str),
    /// A declaration of registers: `name` alone, or `name0` to `name(count - 1)`.
    Registers {
        ty: Type,
        name: &'a str,
        count: Option<u32>,
    },
    Variable(Variable<'a>),
    /// A `.branchtargets` list and its label.
    Targets(&'a str, Vec<&'a str>),
    /// `.loc`
    Location(Location),
    Statement(Statement<'a>),
}

/// The place in the source from which the following instructions come. A place is the number of a file, a line and a
/// column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub at: [u32; 3],
    /// If `at` is in a function that the compiler inlined, the place of the call.
    pub inlined_at: Option<[u32; 3]>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Statement<'a> {
    /// The guard predicate, and whether it is negated.
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
    /// `0f...`, or a decimal number, which is rounded to the type of the instruction.
    F32(u32),
    F64(u64),
    Vector(Vec<Operand<'a>>),
    /// `[base + offset]`, or an absolute address if there is no base.
    Address {
        base: Option<&'a str>,
        offset: i64,
    },
    /// `d|p`
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// The arguments or results `(a, b)` of a call.
    Group(Vec<Operand<'a>>),
}
