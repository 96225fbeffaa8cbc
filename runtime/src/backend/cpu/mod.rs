//! The cpu device: the host processor as a device that implements CUDA's semantics. It is the default device and
//! always available.
//!
//! The host's C++ compiler compiles a `.cu` file to a shared object. Every operating system thread that runs blocks
//! loads its own copy of the object, so builtins and shared memory can be plain static variables. In kernels without
//! barriers, the threads of a block become a loop that can be vectorised. In all other kernels, they become
//! coroutines. The measured times rank configs on this processor only.

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
mod processor;
mod toolchain;
mod unique_path;
mod watch;

pub use compiler::CpuCompiler;
pub use device::CpuDevice;
pub use limits::{CpuOptions, CpuTarget};
pub use watch::history_bytes;

/// The product name of the host processor. On Arm, the names of its cores, each once.
pub fn processor_name() -> &'static str {
    &processor::Processor::read().name
}
