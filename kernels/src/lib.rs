//! The kernels that come with Kiln: a folder a kernel, with its CUDA source, its spec and a plain-Rust
//! reference.
#![forbid(unsafe_code)]
// Rows belong to devices, and those of nobody's device are not in this repository: here the warning that a kernel is
// not baked says nothing new.
#![allow(deprecated)]

pub mod bias_gelu;
pub mod broadcast_add;
pub mod conv2d;
pub mod conv3x3;
pub mod flash_attention;
pub mod gelu;
pub mod gemm;
pub mod gemm_f16;
pub mod layer_norm;
pub mod reduce;
pub mod rms_norm;
pub mod softmax;
pub mod tensor_add;
pub mod tensor_mul;
pub mod transpose;

use kiln::Kernel;

static CATALOGUE: &[&Kernel] = &[
    &bias_gelu::bias_gelu::KERNEL,
    &broadcast_add::broadcast_add::KERNEL,
    &conv2d::conv2d::KERNEL,
    &conv3x3::conv3x3::KERNEL,
    &flash_attention::flash_attention::KERNEL,
    &gelu::gelu::KERNEL,
    &gemm::gemm::KERNEL,
    &gemm_f16::gemm_f16::KERNEL,
    &layer_norm::layer_norm::KERNEL,
    &reduce::reduce::KERNEL,
    &rms_norm::rms_norm::KERNEL,
    &softmax::softmax::KERNEL,
    &tensor_add::tensor_add::KERNEL,
    &tensor_mul::tensor_mul::KERNEL,
    &transpose::transpose::KERNEL,
];

/// Every kernel of this crate, for the `tune` command line: where it finds their references.
pub fn catalogue() -> &'static [&'static Kernel] {
    CATALOGUE
}
