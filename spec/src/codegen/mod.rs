//! Generates translation units. A unit contains two entries for one config, both created from the same source. A
//! program launches the release entry. The receipt entry computes the same and also writes a receipt, which proves what
//! ran.
//!
//! The text of the source is kept, apart from small edits. The release entry is the author's kernel, with its symbol as
//! name and with `extern "C"`. If the kernel is a template, a generated `__global__` function calls the instance of the
//! config. Other edits add parameters for `__constant__` variables, add assertions about the layout of structs and
//! arrays, and adapt shared memory and `#pragma unroll` to host compilers.
//!
//! The receipt entry is a second copy in a separate namespace, with one more parameter and one more statement. Other
//! kernels of the file are left out, so that no names collide and only launched code is compiled.

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
