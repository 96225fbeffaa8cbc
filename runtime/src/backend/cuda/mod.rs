//! NVIDIA GPUs. NVRTC compiles for them with or without a GPU, and the CUDA driver launches.
//!
//! Kiln does not link to these libraries but searches for them at run time. A library that is missing, truncated or
//! of an unsupported version is an error that names the file.

mod compiler;
mod context;
mod device;
mod driver;
mod error;
mod ffi;
mod fingerprint;
mod gpu;
mod headers;
mod library_error;
mod memory;
mod module;
mod numbers;
mod nvrtc;
mod packages;
mod processes;
mod stream;

pub use compiler::NvrtcCompiler;
pub use device::CudaDevice;
