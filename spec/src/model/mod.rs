//! The declaration of a kernel: its spec, arguments, types and baseline.

mod argument;
mod evidence;
mod kernel;
mod plain;
mod types;

pub use argument::{
    Access, ArgSpec, Comparison, ElemRef, Fill, Passing, ScalarArg, SliceArg, Tolerance, TypedArg,
};
pub use evidence::Evidence;
pub use kernel::{
    Baseline, Constraint, Geometry, KernelSpec, Reference, TunableParam, TypeParam, Work,
};
pub use plain::{Plain, PlainArg, PlainField, PlainLayout, PlainNumber, offsets};
pub use types::{ElemType, ScalarType, ScalarValue};
