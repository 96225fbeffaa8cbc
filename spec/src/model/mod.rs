//! What the author of a kernel declares.

mod argument;
mod kernel;
mod types;

pub use argument::{Access, ArgSpec, ElemRef, Fill, ScalarArg, ScalarValue, SliceArg, Tolerance};
pub use kernel::{
    Baseline, Constraint, Geometry, KernelSpec, Reference, TunableParam, TypeParam, Work,
};
pub use types::{ElemType, ScalarType};
