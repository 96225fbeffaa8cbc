//! The kernels that come with Kiln: one folder per kernel, with its CUDA source, its spec and a plain-Rust reference.
#![forbid(unsafe_code)]

pub mod analytic_signal;
pub mod bias_gelu;
pub mod broadcast_add;
pub mod conv2d;
pub mod conv3x3;
pub mod fir_bandpass;
pub mod flash_attention;
pub mod gelu;
pub mod gemm;
pub mod gemm_f16;
pub mod layer_norm;
pub mod modulation_index;
pub mod reduce;
pub mod rms_norm;
pub mod softmax;
pub mod tensor_add;
pub mod tensor_mul;
pub mod tile_blend;
pub mod tile_extract;
pub mod transpose;

use kiln::Kernel;

static CATALOGUE: &[&Kernel] = &[
    &analytic_signal::KERNEL,
    &bias_gelu::KERNEL,
    &broadcast_add::KERNEL,
    &conv2d::KERNEL,
    &conv3x3::KERNEL,
    &fir_bandpass::KERNEL,
    &flash_attention::KERNEL,
    &gelu::KERNEL,
    &gemm::KERNEL,
    &gemm_f16::KERNEL,
    &layer_norm::KERNEL,
    &modulation_index::KERNEL,
    &reduce::KERNEL,
    &rms_norm::KERNEL,
    &softmax::KERNEL,
    &tensor_add::KERNEL,
    &tensor_mul::KERNEL,
    &tile_blend::KERNEL,
    &tile_extract::KERNEL,
    &transpose::KERNEL,
];

/// All kernels of this crate. The `tune` command of this repository uses the references of the kernels in this list.
pub fn catalogue() -> &'static [&'static Kernel] {
    CATALOGUE
}
