//! AMD GPUs, used through the HIP runtime. Kiln does not link to the runtime but loads it at run time.
//!
//! clang compiles kernels with Kiln's own prelude. Compiling therefore needs no part of ROCm, and launching needs only
//! ROCm's runtime library. On machines without clang, ROCm's own compiler library (`libhiprtc`) is used.

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
mod rocm;
mod status;
mod types;

pub use choice::compiler;
pub use compiler::HipCompiler;
pub use device::HipDevice;
pub use hiprtc_compiler::HiprtcCompiler;
pub use types::{ARCH_NAME_OFFSETS, Declaration, Interface};

/// The parts of AMD's interface that this backend uses. A test compares them with AMD's headers.
pub fn interface() -> Interface {
    ffi::interface()
}
