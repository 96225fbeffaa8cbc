//! Generates translation units. A unit contains two entries for one config, both generated from the same source.
//! Programs launch the *release entry*. The *receipt entry* computes the same and also writes a receipt, which proves
//! which kernel ran.
//!
//! A unit contains the author's text with small edits. The kernel is renamed to the symbol of the release entry and
//! declared `extern "C"`. The receipt entry follows it: a copy of the kernel with one more parameter and one more
//! statement. If the kernel is a template, two generated `__global__` functions call the instance for the config. Other
//! edits add parameters for `__constant__` variables, add assertions about the layout of structs and arrays, let functions
//! of the prelude replace the source's own versions for old GPUs, and adapt shared memory and `#pragma unroll` to host
//! compilers.
//!
//! The text stays at file scope. In a namespace, the author's functions would hide those of CUDA that they overload, and
//! headers would not find the author's operators. The other kernels of the file are left out, so that only launched code
//! is compiled.

mod constants;
mod defines;
mod error;
#[doc(hidden)]
pub mod prelude;
mod rewrite;
mod standard_headers;
mod symbol;
mod target;
mod unit;

pub use error::CodegenError;
pub use symbol::Symbol;
pub use target::Target;
pub use unit::{TranslationUnit, barriers_of_config, symbol_hash};
