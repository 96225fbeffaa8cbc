//! Launch GPU kernels with configs that were tuned once and baked in at build time.

// Generated code says `::kiln`, in this crate's own tests too.
extern crate self as kiln;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod any_buffer;
pub mod artifacts;
pub mod backend;
pub mod buffer;
pub mod compare;
pub mod compiler;
pub mod device;
pub mod devices;
pub mod element;
pub mod error;
pub mod fill;
pub mod kernel;
pub mod launch;
mod launch_error;
mod memo;
pub mod prepare;
pub mod receipt;
pub mod reference;
pub mod rig;
pub mod select;
pub mod smoke;
pub mod stream;

pub use buffer::{Buffer, DeviceSlice, DeviceSliceMut, View, ViewMut};
pub use device::Device;
pub use devices::{devices, open};
pub use element::{Element, Scalar};
pub use error::{DeviceError, ErrorClass};
pub use half::{bf16, f16};
pub use kernel::{Kernel, ReferenceFn};
pub use kiln_macros::tuned_kernel;
pub use kiln_spec as spec;
pub use launch_error::{LaunchCause, LaunchError};
pub use reference::ReferenceCall;
pub use select::{BaselineReason, Choice, Forced, Selection};
pub use stream::Stream;
