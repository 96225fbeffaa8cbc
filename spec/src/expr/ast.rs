//! The syntax tree of an expression.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::device::limits::DeviceLimit;

/// An expression over tunable parameters, problem sizes and device limits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Expr {
    /// An integer literal.
    Int(i64),
    /// `true` or `false`.
    Bool(bool),
    /// The name of a tunable parameter, a problem size, a type parameter or a choice.
    Name(String),
    /// A limit of the device: `device.<limit>`.
    Device(DeviceLimit),
    /// A prefix operator with its operand: `-x`, `!x`.
    Unary(UnaryOp, Box<Expr>),
    /// An infix operator with its operands: `x op y`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// A function call: `min(x, y)`, `x.div_ceil(y)`, …
    Call(BuiltinFunction, Vec<Expr>),
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnaryOp {
    /// `-x`
    Neg,
    /// `!x`
    Not,
}

/// An infix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinaryOp {
    /// `x + y`
    Add,
    /// `x - y`
    Sub,
    /// `x * y`
    Mul,
    /// `x / y`, rounded towards zero
    Div,
    /// `x % y`, with the sign of `x`
    Rem,
    /// `x << y`, which is `x` times two to the power of `y`
    Shl,
    /// `x >> y`, which is `x` divided by two to the power of `y`, rounded down
    Shr,
    /// `x == y`
    Eq,
    /// `x != y`
    Ne,
    /// `x < y`
    Lt,
    /// `x <= y`
    Le,
    /// `x > y`
    Gt,
    /// `x >= y`
    Ge,
    /// `x && y`
    And,
    /// `x || y`
    Or,
}

impl BinaryOp {
    /// The operator as written in a spec.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        }
    }

    /// The precedence of the operator. An operator with a larger number binds tighter, as in Rust.
    pub fn precedence(self) -> u8 {
        match self {
            BinaryOp::Or => 1,
            BinaryOp::And => 2,
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => 3,
            BinaryOp::Shl | BinaryOp::Shr => 4,
            BinaryOp::Add | BinaryOp::Sub => 5,
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 6,
        }
    }
}

/// A function of the expression language. The first argument may be written as a receiver: `n.div_ceil(BLOCK)` is
/// `div_ceil(n, BLOCK)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BuiltinFunction {
    /// The smallest of two or more arguments.
    Min,
    /// The largest of two or more arguments.
    Max,
    /// The quotient of two arguments, rounded up. Both must be non-negative.
    DivCeil,
    /// The smallest power of two that is not less than the argument, which must be positive.
    NextPowerOfTwo,
    /// The size in bytes of one element of a type: `size_of(T)`.
    SizeOf,
}

impl BuiltinFunction {
    /// Every function.
    pub const ALL: [BuiltinFunction; 5] = [
        BuiltinFunction::Min,
        BuiltinFunction::Max,
        BuiltinFunction::DivCeil,
        BuiltinFunction::NextPowerOfTwo,
        BuiltinFunction::SizeOf,
    ];

    /// The function's name as written in a spec.
    pub fn name(self) -> &'static str {
        match self {
            BuiltinFunction::Min => "min",
            BuiltinFunction::Max => "max",
            BuiltinFunction::DivCeil => "div_ceil",
            BuiltinFunction::NextPowerOfTwo => "next_power_of_two",
            BuiltinFunction::SizeOf => "size_of",
        }
    }

    /// The function with this name, if there is one.
    pub fn from_name(name: &str) -> Option<BuiltinFunction> {
        Self::ALL
            .into_iter()
            .find(|function| function.name() == name)
    }

    /// Whether the function can be called with this number of arguments.
    pub fn accepts(self, arguments: usize) -> bool {
        match self {
            BuiltinFunction::Min | BuiltinFunction::Max => arguments >= 2,
            BuiltinFunction::DivCeil => arguments == 2,
            BuiltinFunction::NextPowerOfTwo | BuiltinFunction::SizeOf => arguments == 1,
        }
    }
}

impl Expr {
    /// Maximum nesting depth of an expression. The grammar rejects deeper expressions before they exhaust the call
    /// stack or exceed the limit of the JSON reader (128 levels).
    pub const MAX_DEPTH: usize = 40;

    /// Nesting depth of the expression; 1 for a literal or a name.
    pub fn depth(&self) -> usize {
        1 + match self {
            Expr::Int(_) | Expr::Bool(_) | Expr::Name(_) | Expr::Device(_) => 0,
            Expr::Unary(_, x) => x.depth(),
            Expr::Binary(_, x, y) => x.depth().max(y.depth()),
            Expr::Call(_, arguments) => arguments.iter().map(Expr::depth).max().unwrap_or(0),
        }
    }

    /// Calls `visit` on this expression and on every expression inside it.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        visit(self);
        match self {
            Expr::Int(_) | Expr::Bool(_) | Expr::Name(_) | Expr::Device(_) => {}
            Expr::Unary(_, x) => x.walk(visit),
            Expr::Binary(_, x, y) => {
                x.walk(visit);
                y.walk(visit);
            }
            Expr::Call(_, arguments) => arguments.iter().for_each(|x| x.walk(visit)),
        }
    }

    /// The names in the expression, sorted.
    pub fn names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        self.walk(&mut |expr| {
            if let Expr::Name(name) = expr {
                names.insert(name.as_str());
            }
        });
        names
    }

    /// Whether the expression uses a limit of the device.
    pub fn mentions_device(&self) -> bool {
        let mut found = false;
        self.walk(&mut |expr| found |= matches!(expr, Expr::Device(_)));
        found
    }
}
