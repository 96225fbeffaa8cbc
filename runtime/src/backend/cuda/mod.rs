//! NVIDIA GPUs: NVRTC compiles for them with or without one, the CUDA driver launches.
//!
//! Nothing is linked: both libraries are looked for at run time, and what is not there, cut off or of another version
//! is an error that names the file.

mod compiler;
mod ffi;
mod nvrtc;

pub use compiler::NvrtcCompiler;
