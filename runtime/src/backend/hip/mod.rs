//! AMD GPUs, through the HIP runtime, which is loaded at run time.
//!
//! clang compiles kernels with Kiln's own prelude: compiling needs no part of ROCm, launching only its runtime
//! library. Without a clang, ROCm's own compiler library (`libhiprtc`) is used.

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

/// The parts of the vendor's interface that this backend uses, for the test that compiles the vendor's headers.
pub fn interface() -> Interface {
    ffi::interface()
}
