//! The arguments of a kernel.

use serde::{Deserialize, Serialize};

use super::{ElemType, PlainArg, ScalarType, ScalarValue};
use crate::expr::Expr;

/// One argument, in the order of the kernel's signature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ArgSpec {
    /// Passed by value.
    Scalar(ScalarArg),
    /// A pointer into device memory with a declared length.
    Slice(SliceArg),
    /// A struct or array, passed by value.
    Plain(PlainArg),
}

impl ArgSpec {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            ArgSpec::Scalar(scalar) => &scalar.name,
            ArgSpec::Slice(slice) => &slice.name,
            ArgSpec::Plain(plain) => &plain.name,
        }
    }

    /// Whether it is passed to the kernel.
    pub fn is_passed(&self) -> bool {
        !matches!(self, ArgSpec::Scalar(scalar) if scalar.passing == Passing::Launch)
    }

    /// Whether it is a parameter of the `__global__` function; an argument that fills a `__constant__` variable is
    /// not.
    pub fn is_parameter(&self) -> bool {
        let fills = matches!(self, ArgSpec::Slice(slice) if slice.constant.is_some());
        self.is_passed() && !fills
    }

    /// The expression of its value, if callers do not pass it.
    pub fn computed(&self) -> Option<&Expr> {
        match self {
            ArgSpec::Scalar(ScalarArg {
                passing: Passing::Computed(expr),
                ..
            }) => Some(expr),
            _ => None,
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
    /// The value for verification, timing and smoke tests (`#[value(..)]`), if it is not a problem size.
    pub value: Option<ScalarValue>,
    /// Who supplies it, and who receives it.
    #[serde(default, skip_serializing_if = "Passing::is_given")]
    pub passing: Passing,
}

/// Who supplies a scalar, and who receives it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Passing {
    /// The caller passes it to the launch function, which passes it to the kernel.
    #[default]
    Given,
    /// `sizes(..)`: the caller passes it to the launch function. Expressions use it; the kernel does not receive it.
    Launch,
    /// `#[computed(..)]`: the launch function computes it from the config and the sizes, and passes it to the kernel.
    Computed(Expr),
}

impl Passing {
    /// Whether it is passed from the caller to the kernel, like most arguments.
    pub fn is_given(&self) -> bool {
        *self == Passing::Given
    }
}

/// A pointer argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SliceArg {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub elem: ElemRef,
    /// How the kernel accesses it.
    pub access: Access,
    /// Its length in elements (`#[len(..)]`), over problem sizes; that of an output may depend on tunable
    /// parameters.
    pub len: Expr,
    /// How it is filled for verification, timing and smoke tests (`#[fill(..)]`).
    pub fill: Fill,
    /// Its alignment in elements (`#[align(..)]`), over tunable parameters: a kernel that loads `float4` needs 4.
    /// Checked at launch.
    pub align: Option<Expr>,
    /// Tolerance of this output, if it differs from the kernel's.
    pub tolerance: Option<Tolerance>,
    /// How this output is compared (`#[compare(..)]`), if not element by element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<Comparison>,
    /// The `__constant__` variable of the source that it fills (`#[constant]`), with its namespaces: `tables::taps`.
    /// The kernel reads the variable; it has no parameter for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<String>,
}

/// How an output is compared if two correct configs may write different elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Comparison {
    /// The sum of its elements.
    Sum,
    /// Its largest element.
    Max,
    /// Its smallest element.
    Min,
    /// Not at all: a workspace.
    None,
}

impl Comparison {
    /// All variants, by name.
    pub const ALL: [(&str, Comparison); 4] = [
        ("sum", Comparison::Sum),
        ("max", Comparison::Max),
        ("min", Comparison::Min),
        ("none", Comparison::None),
    ];
}

/// A fixed element type or a type parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ElemRef {
    /// Always this type.
    Fixed(ElemType),
    /// The type parameter of this name.
    Param(String),
}

/// How a kernel accesses a slice.
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
    /// Uniform over `[low, high)`; for integer elements, the integers in that range.
    Uniform {
        /// Lower bound.
        low: f64,
        /// Upper bound, excluded.
        high: f64,
    },
    /// Integers from 0 up to (not including) an expression over problem sizes: indices, labels.
    Below(Expr),
    /// The element's own index.
    Iota,
    /// One value everywhere.
    Constant(f64),
}

/// How far an output may be from the reference.
///
/// With `scale` the root mean square of the reference output, an element passes if `|got - want| <= absolute +
/// relative * max(|want|, scale)`. NaN and infinities never pass if the reference is finite. Integer outputs are
/// compared exactly.
///
/// For `f16` and `bf16` outputs the rounding to the type is added, half a unit in the last place of `want`: the
/// tolerance applies to the value before it is rounded, so that one tolerance serves all types. A tolerance of 0
/// stays exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// Bound relative to the element or the output's root mean square, whichever is larger.
    pub relative: f64,
    /// Bound in the output's own unit.
    pub absolute: f64,
}
