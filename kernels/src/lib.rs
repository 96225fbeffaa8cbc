//! The kernels that come with Kiln: a folder a kernel, with its CUDA source, its spec and a plain-Rust
//! reference.
#![forbid(unsafe_code)]
// Rows belong to devices, and those of nobody's device are not in this repository: here the warning that a kernel is
// not baked says nothing new.
#![allow(deprecated)]

pub mod analytic_signal;
pub mod fir_bandpass;
pub mod gemm;
pub mod modulation_index;
pub mod pac;
pub mod softmax;
pub mod tensor_add;
pub mod tile_blend;
pub mod tile_extract;

use kiln::Kernel;

static CATALOGUE: [&Kernel; 8] = [
    &analytic_signal::analytic_signal::KERNEL,
    &fir_bandpass::fir_bandpass::KERNEL,
    &gemm::gemm::KERNEL,
    &modulation_index::modulation_index::KERNEL,
    &softmax::softmax::KERNEL,
    &tensor_add::tensor_add::KERNEL,
    &tile_blend::tile_blend::KERNEL,
    &tile_extract::tile_extract::KERNEL,
];

/// Every kernel of this crate, for the `tune` command line: where it finds their references.
pub fn catalogue() -> &'static [&'static Kernel] {
    &CATALOGUE
}
