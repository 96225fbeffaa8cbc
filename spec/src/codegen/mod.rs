//! Generates translation units: release and receipt entry of one config, from one source.
//!
//! The source itself is kept as it is. The release entry differs from the author's kernel in its name (and in `extern
//! "C"`, if that was missing). The receipt entry is a second copy in a separate namespace, with one more parameter
//! and one more statement. Other kernels of the file are left out, so that nothing collides and only launched code is
//! compiled.

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
