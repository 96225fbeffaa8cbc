//! The operators and functions of expressions in a model.

/// An operator or function. Kiln and Python differ in how they treat kinds and signs, so each kind of division is a
/// separate variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// `-x`
    Neg,
    /// Negation of a boolean.
    Not,
    /// Whether `x` satisfies a constraint. In Kiln, only `true` does. In Python, every value that converts to `True`
    /// does.
    Truth,
    /// The absolute value.
    Abs,
    /// The smallest power of two that is not less than `x`.
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
    /// `x` times two to the power of `y`.
    Shl,
    /// `x` divided by two to the power of `y`, rounded down.
    Shr,
    /// The quotient rounded up.
    DivCeil,
    /// `x ** y`
    Pow,
    /// The smaller of two values.
    Min,
    /// The larger of two values.
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
    /// `x and y`. `y` is not evaluated if `x` already determines the result.
    And,
    /// `x or y`. `y` is not evaluated if `x` already determines the result.
    Or,
    /// `y` if `x` is true, `z` if `x` is false.
    Select,
}
