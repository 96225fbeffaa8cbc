//! The embedded default device: the host processor, with CUDA semantics.
//!
//! The host's C++ compiler turns a `.cu` into a shared object; every thread of the operating system that
//! runs blocks loads a copy of its own, so that builtins and shared memory are plain statics there. Kernels
//! without barriers become vectorisable loops, all others coroutines. Its timings rank configs on this
//! processor and nothing else.

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
