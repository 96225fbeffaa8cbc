//! The arguments of a kernel.

use serde::{Deserialize, Serialize};

use super::{ElemType, PlainArg, ScalarType, ScalarValue};
use crate::expr::Expr;

/// One argument, in the order of the kernel's signature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ArgSpec {
    /// A number that is passed by value.
    Scalar(ScalarArg),
    /// A pointer into device memory with a declared length.
    Slice(SliceArg),
    /// A struct or array, passed by value.
    Plain(PlainArg),
    /// A number that is passed by value and whose type is `f16`, `bf16` or a type parameter. Numbers of other types are
    /// [`Self::Scalar`].
    Typed(TypedArg),
}

impl ArgSpec {
    /// The argument's name in the Rust signature.
    pub fn name(&self) -> &str {
        match self {
            ArgSpec::Scalar(scalar) => &scalar.name,
            ArgSpec::Slice(slice) => &slice.name,
            ArgSpec::Plain(plain) => &plain.name,
            ArgSpec::Typed(typed) => &typed.name,
        }
    }

    /// Whether the kernel receives the argument. It does not receive a size that only expressions use (`sizes(..)`).
    pub fn is_passed(&self) -> bool {
        !matches!(self, ArgSpec::Scalar(scalar) if scalar.passing == Passing::Launch)
    }

    /// Whether the argument is a parameter of the `__global__` function. A slice that fills a `__constant__` variable
    /// is passed to the kernel but is not a parameter.
    pub fn is_parameter(&self) -> bool {
        let fills = matches!(self, ArgSpec::Slice(slice) if slice.constant.is_some());
        self.is_passed() && !fills
    }

    /// The expression of a `#[computed(..)]` argument; `None` for an argument that callers pass.
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

/// A number that is passed by value: either a problem size, or a number with a declared value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalarArg {
    /// The argument's name.
    pub name: String,
    /// The type of the number.
    pub ty: ScalarType,
    /// The value for verification, timing and smoke tests (`#[value(..)]`). `None` if the argument is a problem size.
    pub value: Option<ScalarValue>,
    /// Who supplies the argument, and who receives it.
    #[serde(default, skip_serializing_if = "Passing::is_given")]
    pub passing: Passing,
}

/// A number that is passed by value and has a type that [`ScalarType`] does not contain: a 16-bit float, or a type
/// parameter. It is never a problem size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypedArg {
    /// The argument's name.
    pub name: String,
    /// The type of the number.
    pub ty: ElemRef,
    /// The value for verification, timing and smoke tests (`#[value(..)]`). Every type that the argument may have can
    /// represent the value, possibly after rounding.
    pub value: ScalarValue,
}

/// Who supplies a scalar argument, and who receives it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Passing {
    /// The caller passes the argument to the launch function, which passes it to the kernel.
    #[default]
    Given,
    /// `sizes(..)`: the caller passes the argument to the launch function. Expressions use it, but the kernel does not
    /// receive it.
    Launch,
    /// `#[computed(..)]`: the launch function computes the argument from the config and the sizes, and passes it to the
    /// kernel.
    Computed(Expr),
}

impl Passing {
    /// Whether the caller passes the argument and the kernel receives it, as for most arguments.
    pub fn is_given(&self) -> bool {
        *self == Passing::Given
    }
}

/// A pointer argument, declared as a slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SliceArg {
    /// The argument's name.
    pub name: String,
    /// The type of the slice's elements.
    pub elem: ElemRef,
    /// Whether the kernel reads the slice, writes it, or does both.
    pub access: Access,
    /// The slice's length in elements (`#[len(..)]`), as an expression over problem sizes. The length of an output
    /// whose elements are not compared one by one (`#[compare(..)]`) may also depend on tunable parameters.
    pub len: Expr,
    /// How the slice is filled for verification, timing and smoke tests (`#[fill(..)]`).
    pub fill: Fill,
    /// The slice's alignment in elements (`#[align(..)]`), as an expression over tunable parameters. For example, a
    /// kernel that loads `float4` from a slice of `f32` needs an alignment of 4. Every launch checks the alignment.
    pub align: Option<Expr>,
    /// The tolerance of this output; `None` if the kernel's tolerance applies.
    pub tolerance: Option<Tolerance>,
    /// How this output is compared (`#[compare(..)]`); `None` if its elements are compared one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<Comparison>,
    /// The path of the `__constant__` variable that this argument fills (`#[constant]`), as in `tables::taps`. The
    /// kernel reads the variable and has no parameter for the argument. `None` for an ordinary parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<String>,
}

impl SliceArg {
    /// Whether a launch can read what an earlier launch left in the slice, and the slice is never compared.
    pub fn is_kept_workspace(&self) -> bool {
        self.access == Access::InOut && self.compare == Some(Comparison::None)
    }
}

/// How an output is compared with the reference if correct configs may write different elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Comparison {
    /// Compare the sum of the elements.
    Sum,
    /// Compare the largest element.
    Max,
    /// Compare the smallest element.
    Min,
    /// Do not compare, because the slice is only a workspace.
    None,
}

impl Comparison {
    /// Every variant with its name in `#[compare(..)]`.
    pub const ALL: [(&str, Comparison); 4] = [
        ("sum", Comparison::Sum),
        ("max", Comparison::Max),
        ("min", Comparison::Min),
        ("none", Comparison::None),
    ];
}

/// The element type of a slice: a fixed type or a type parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ElemRef {
    /// Always this type.
    Fixed(ElemType),
    /// The type parameter of this name.
    Param(String),
}

impl ElemRef {
    /// The type's name in a spec.
    pub fn name(&self) -> &str {
        match self {
            ElemRef::Fixed(ty) => ty.name(),
            ElemRef::Param(name) => name,
        }
    }

    /// The type's name in a kernel's source.
    pub fn c_name(&self) -> &str {
        match self {
            ElemRef::Fixed(ty) => ty.c_name(),
            ElemRef::Param(name) => name,
        }
    }
}

/// How a kernel accesses a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Access {
    /// `&[T]`: the kernel only reads the slice. Verification checks that a launch leaves it unchanged.
    In,
    /// `&mut [T]`: the kernel writes every element. Verification fills the slice with poison values before a launch.
    Out,
    /// `#[inout] &mut [T]`: the kernel reads and writes the slice. Verification restores the slice before each
    /// launch.
    InOut,
}

impl Access {
    /// Whether the kernel writes the slice.
    pub fn is_output(self) -> bool {
        self != Access::In
    }
}

/// How a slice is filled. A given seed always produces the same elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Fill {
    /// Uniformly distributed numbers in `[low, high)`. Integer elements get integers in this range.
    Uniform {
        /// Lower bound.
        low: f64,
        /// Upper bound (exclusive).
        high: f64,
    },
    /// Integers from 0 up to, but not including, the value of an expression over problem sizes. Typical uses are
    /// indices and labels.
    Below(Expr),
    /// Each element is its own index.
    Iota,
    /// Every element is this number.
    Constant(f64),
    /// The default for the element type of the launch ([`Fill::default_of`]). A slice without `#[fill(..)]` has this
    /// fill. Programs may pass any values in it, so verification also tries unusual ones.
    ByType,
}

impl Fill {
    /// The fill of a slice without `#[fill(..)]`: `uniform(-1, 1)` for floats and `below(16)` for integers.
    pub fn default_of(ty: ElemType) -> Fill {
        if ty.is_float() {
            Fill::Uniform {
                low: -1.0,
                high: 1.0,
            }
        } else {
            Fill::Below(Expr::Int(16))
        }
    }
}

/// How far an output may differ from the reference.
///
/// Let `scale` be the root mean square of the reference output, without the influence of a few huge elements
/// (docs/measuring.md). An element passes if `|got - want| <= absolute + relative * max(|want|, scale)`. NaN and infinities never pass if the reference is
/// finite. Integer outputs are compared exactly.
///
/// For `f16` and `bf16` outputs, half a unit in the last place of `want` is added to the bound. The tolerance therefore
/// applies to the value before it is rounded to the output type, and all types can have the same tolerance. For `f32`
/// and `f64` outputs, the smallest normal number is added, because GPUs may flush smaller ones. A tolerance of 0 is an
/// exception: it requires equal values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// Bound relative to the larger of the element and the scale of the output. `1e-6` is one millionth.
    pub relative: f64,
    /// Absolute bound, in the unit of the output.
    pub absolute: f64,
}
