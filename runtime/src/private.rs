//! Everything that generated code may use. This module is hidden and semantic versioning does not apply to it, so
//! `kiln-macros` and `kiln` must have the same version.

pub use kiln_spec::{Backend, ElemType as Type, LaunchPlan, Problem};

pub use crate::data::buffer::{Buffer, DeviceSlice, DeviceSliceMut, RawSlice};
pub use crate::data::element::{Element, Scalar};
pub use crate::data::inputs_call::InputsCall;
pub use crate::data::reference::ReferenceCall;
pub use crate::device::stream::Stream;
pub use crate::kernel::{
    BakedRow, ConstDimension, ConstImage, ConstSymbols, ConstValue, Evidence, Kernel, KernelParts,
    RowDevice,
};
pub use crate::launch::call::LaunchCall;
pub use crate::launch::error::LaunchError;
pub use crate::launch::memo::Memo;
pub use crate::launch::{Aligned, Arg, launch, problem, size, slice_len, type_code};
