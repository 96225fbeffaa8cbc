//! Generates translation units. A unit contains the release entry and the receipt entry of one config, made from one
//! source. The release entry is what a program launches. The receipt entry also writes a receipt, which proves what
//! ran.
//!
//! The text of the source is kept. The release entry differs from the author's kernel only in its name, and in
//! `extern "C"` if the source did not have it. The receipt entry is a second copy in a separate namespace, with one
//! more parameter and one more statement. Other kernels of the file are left out, so that no names collide and only
//! launched code is compiled.

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
