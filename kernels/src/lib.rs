//! The kernels that come with Kiln: a folder a kernel, with its CUDA source, its spec and a plain-Rust
//! reference.
#![forbid(unsafe_code)]

pub mod gemm;
pub mod softmax;
pub mod tensor_add;
