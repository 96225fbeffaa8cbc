//! Everything that generated code may use. Hidden, and outside semantic versioning: `kiln-macros` and `kiln` must
//! have the same version.

pub use kiln_spec::{Backend, ElemType as Type, LaunchPlan, Problem};

pub use crate::buffer::{Buffer, DeviceSlice, DeviceSliceMut, RawSlice};
pub use crate::element::{Element, Scalar};
pub use crate::inputs_call::InputsCall;
pub use crate::kernel::{
    BakedRow, ConstDimension, ConstImage, ConstSymbols, ConstValue, Evidence, Kernel, KernelParts,
    RowDevice,
};
pub use crate::launch::{Aligned, Arg, launch, problem, size, slice_len, type_code};
pub use crate::launch_call::LaunchCall;
pub use crate::launch_error::LaunchError;
pub use crate::memo::Memo;
pub use crate::reference::ReferenceCall;
pub use crate::stream::Stream;
