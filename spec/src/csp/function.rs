//! The operators and functions of the compiled form.

/// An operator or function. Languages differ in how they treat kinds and signs, so each kind of division has its own
/// name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// `-x`
    Neg,
    /// Negation of a boolean.
    Not,
    /// The truth value of `x`, as in a constraint.
    Truth,
    /// The absolute value.
    Abs,
    /// The smallest power of two not below `x`.
    NextPowerOfTwo,
    /// `x + y`
    Add,
    /// `x - y`
    Sub,
    /// `x * y`
    Mul,
    /// The quotient as a double (Python's `/`).
    TrueDiv,
    /// The quotient rounded down (Python's `//`).
    FloorDiv,
    /// The remainder with the divisor's sign (Python's `%`).
    FloorMod,
    /// The quotient rounded towards zero (Kiln's `/`).
    TruncDiv,
    /// The remainder with the dividend's sign (Kiln's `%`).
    TruncRem,
    /// The quotient rounded up.
    DivCeil,
    /// `x ** y`
    Pow,
    /// The smaller.
    Min,
    /// The larger.
    Max,
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
    /// `x and y`; `y` is not evaluated if `x` decides.
    And,
    /// `x or y`; `y` is not evaluated if `x` decides.
    Or,
    /// `y` if `x` is true, `z` if it is false.
    Select,
}
