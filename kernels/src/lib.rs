//! The kernels that come with Kiln: a folder a kernel, with its CUDA source, its spec and a plain-Rust
//! reference.
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
    &analytic_signal::analytic_signal::KERNEL,
    &bias_gelu::bias_gelu::KERNEL,
    &broadcast_add::broadcast_add::KERNEL,
    &conv2d::conv2d::KERNEL,
    &conv3x3::conv3x3::KERNEL,
    &fir_bandpass::fir_bandpass::KERNEL,
    &flash_attention::flash_attention::KERNEL,
    &gelu::gelu::KERNEL,
    &gemm::gemm::KERNEL,
    &gemm_f16::gemm_f16::KERNEL,
    &layer_norm::layer_norm::KERNEL,
    &modulation_index::modulation_index::KERNEL,
    &reduce::reduce::KERNEL,
    &rms_norm::rms_norm::KERNEL,
    &softmax::softmax::KERNEL,
    &tensor_add::tensor_add::KERNEL,
    &tensor_mul::tensor_mul::KERNEL,
    &tile_blend::tile_blend::KERNEL,
    &tile_extract::tile_extract::KERNEL,
    &transpose::transpose::KERNEL,
];

/// Every kernel of this crate, for the `tune` command line: where it finds their references.
pub fn catalogue() -> &'static [&'static Kernel] {
    CATALOGUE
}
