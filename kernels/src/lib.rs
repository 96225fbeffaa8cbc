//! The kernels that come with Kiln: a folder a kernel, with its CUDA source, its spec and a plain-Rust
//! reference.
#![forbid(unsafe_code)]

pub mod gemm;
pub mod softmax;
pub mod tensor_add;

use kiln::Kernel;

static CATALOGUE: [&Kernel; 3] = [
    &gemm::gemm::KERNEL,
    &softmax::softmax::KERNEL,
    &tensor_add::tensor_add::KERNEL,
];

/// Every kernel of this crate, for the `tune` command line: where it finds their references.
pub fn catalogue() -> &'static [&'static Kernel] {
    &CATALOGUE
}
