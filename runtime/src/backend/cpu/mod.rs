//! The default device, always available: the host processor, with CUDA semantics.
//!
//! The host's C++ compiler turns a `.cu` into a shared object. Every operating system thread that runs blocks loads
//! its own copy, so that builtins and shared memory are plain static variables there. Kernels without barriers become
//! vectorisable loops, all others coroutines. Its timings rank configs on this processor only.

mod arena;
mod common_part;
mod compiler;
mod device;
mod executor;
mod ffi;
mod limits;
mod lines;
mod memory;
mod module;
mod object;
mod pool;
mod toolchain;
mod watch;

pub use compiler::CpuCompiler;
pub use device::CpuDevice;
pub use limits::{CpuOptions, CpuTarget};
