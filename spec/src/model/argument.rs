//! The arguments of a kernel.

use serde::{Deserialize, Serialize};

use super::{ElemType, ScalarType};
use crate::expr::Expr;

/// One argument, in the order of the kernel's signature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ArgSpec {
    /// Passed by value.
    Scalar(ScalarArg),
    /// A pointer into device memory with a declared length.
    Slice(SliceArg),
}

impl ArgSpec {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            ArgSpec::Scalar(scalar) => &scalar.name,
            ArgSpec::Slice(slice) => &slice.name,
        }
    }
}

/// An argument passed by value: a problem size, or a number with a declared value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalarArg {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ScalarType,
    /// The value used for verification, timing and smoke tests (`#[value(..)]`), where it is no
    /// problem size.
    pub value: Option<ScalarValue>,
}

/// A literal scalar.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ScalarValue {
    /// An integer.
    Int(i64),
    /// A real number.
    Float(f64),
}

/// A pointer argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SliceArg {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub elem: ElemRef,
    /// What the kernel does with it.
    pub access: Access,
    /// Its length in elements (`#[len(..)]`), over problem sizes.
    pub len: Expr,
    /// How it is filled for verification, timing and smoke tests (`#[fill(..)]`).
    pub fill: Fill,
    /// Its alignment in elements (`#[align(..)]`), over tunable parameters: a kernel that loads
    /// `float4` needs 4. Checked at launch.
    pub align: Option<Expr>,
    /// Tolerance of this output, where it differs from the kernel's.
    pub tolerance: Option<Tolerance>,
}

/// A fixed element type or a type parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ElemRef {
    /// Always this type.
    Fixed(ElemType),
    /// The type parameter of this name.
    Param(String),
}

/// What a kernel does with a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Access {
    /// `&[T]`: read only; must be unchanged after a launch.
    In,
    /// `&mut [T]`: every element is written; poisoned before a verifying launch.
    Out,
    /// `#[inout] &mut [T]`: read and written; restored before each verifying launch.
    InOut,
}

impl Access {
    /// Whether the kernel writes it.
    pub fn is_output(self) -> bool {
        self != Access::In
    }
}

/// How a slice is filled, from a seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Fill {
    /// Uniform over `[low, high)`; for integer elements whole numbers of that range.
    Uniform {
        /// Lower bound.
        low: f64,
        /// Upper bound, not reached.
        high: f64,
    },
    /// Whole numbers from 0 up to (not including) an expression over problem sizes: indices, labels.
    Below(Expr),
    /// The element's own index.
    Iota,
    /// One value everywhere.
    Constant(f64),
}

/// How far an output may be from the reference.
///
/// With `scale` the root mean square of the reference output, an element passes when
/// `|got - want| <= absolute + relative * max(|want|, scale)`. NaN and infinities never pass where the
/// reference is finite. Integer outputs are compared exactly.
///
/// For `f16` and `bf16` outputs the rounding to the type comes on top, half a unit in the last place of `want`: the
/// tolerance is of the value before it is rounded, so that one serves all types. A tolerance of 0 stays exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// Bound relative to the element or the output's root mean square, whichever is larger.
    pub relative: f64,
    /// Bound in the output's own unit.
    pub absolute: f64,
}
