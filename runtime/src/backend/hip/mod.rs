//! AMD GPUs. Kernels are compiled by clang with Kiln's own prelude: no part of ROCm is needed to compile.

mod clang;
pub mod code_object;
mod compiler;

pub use compiler::HipCompiler;
