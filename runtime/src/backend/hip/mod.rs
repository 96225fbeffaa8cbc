//! AMD GPUs through the HIP runtime, which is looked for when the program runs.
//!
//! Kernels are compiled by clang with Kiln's own prelude: no part of ROCm is needed to compile, only its
//! runtime library to launch. If there is no clang, ROCm's own compiler library (`libhiprtc`) is taken.

mod choice;
mod clang;
mod code_object;
mod compiler;
mod context;
mod device;
mod ffi;
mod gpu;
mod hiprtc;
mod hiprtc_compiler;
#[cfg(feature = "testing")]
mod host_arch;
mod library;
mod library_error;
mod limits;
mod memory;
mod metadata;
mod module;
mod processes;
mod status;
mod types;

pub use choice::compiler;
pub use compiler::HipCompiler;
pub use device::HipDevice;
pub use hiprtc_compiler::HiprtcCompiler;
pub use types::{ARCH_NAME_OFFSETS, Declaration, Interface};

/// What this backend uses of the vendor's interface, for the test that compiles the vendor's headers.
pub fn interface() -> Interface {
    ffi::interface()
}
