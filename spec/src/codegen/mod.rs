//! Generates translation units. A unit contains two entries for one config, both generated from the same source.
//! Programs launch the *release entry*. The *receipt entry* computes the same and also writes a receipt, which proves
//! which kernel ran.
//!
//! The release copy of the source is the author's text with small edits. The kernel gets its symbol as name, and
//! `extern "C"`. If the kernel is a template, a generated `__global__` function calls the instance for the config.
//! Other edits add parameters for `__constant__` variables, add assertions about the layout of structs and arrays, and
//! adapt shared memory and `#pragma unroll` to host compilers.
//!
//! The receipt copy is in a separate namespace. Its entry has one more parameter and one more statement. Each copy
//! leaves out the other kernels of the file, so that no names collide and only launched code is compiled.

mod constants;
mod defines;
mod edit;
mod error;
#[doc(hidden)]
pub mod prelude;
mod rewrite;
mod symbol;
mod target;
mod unit;

pub use error::CodegenError;
pub use symbol::Symbol;
pub use target::Target;
pub use unit::{TranslationUnit, symbol_hash};
