//! The grammar of `#[tuned_kernel(..)]`. The macro and the command line share it.
//!
//! Parsing has two steps. First, [`KernelAttr`] and [`KernelFn`] receive the declaration as written, with spans. Then
//! the module `lower` converts them to a [`KernelSpec`](crate::model::KernelSpec). Afterwards, [`check`](crate::check)
//! checks the meaning of both.
//!
//! `docs/spec-language.md` describes the grammar.

mod attribute;
pub mod declaration;
pub mod discover;
mod expression;
mod function;
mod lower;
mod parsed;
mod plain;
#[cfg(test)]
pub(crate) mod tests;
mod values;

use proc_macro2::TokenStream;

pub use declaration::{KernelAttr, KernelFn};
pub use expression::SpannedExpr;
pub use parsed::ParsedKernel;

use crate::text::diagnostic::Diagnostics;

/// Parses and checks a kernel. `attribute` contains the tokens inside `#[tuned_kernel(..)]`, and `item` the block
/// below it.
///
/// # Errors
/// Every syntax mistake or, if there are none, every semantic mistake.
pub fn kernel(attribute: TokenStream, item: TokenStream) -> Result<ParsedKernel, Diagnostics> {
    let (attr, function) = form(attribute, item)?;
    let mut mistakes = crate::check::names(&attr, &function);
    match lower::lower(attr, function) {
        Ok(kernel) => {
            let meaning = crate::check::meaning(&kernel, mistakes.is_empty());
            mistakes.append(meaning);
            mistakes.into_result(kernel)
        }
        Err(more) => {
            mistakes.append(more);
            Err(mistakes)
        }
    }
}

/// Parses the declaration as written. Its meaning is not checked yet.
fn form(attribute: TokenStream, item: TokenStream) -> Result<(KernelAttr, KernelFn), Diagnostics> {
    let (attr, mut diagnostics) = KernelAttr::parse(attribute);
    let types: Vec<_> = attr.types.iter().map(|ty| &*ty.name.value).collect();
    match KernelFn::parse(item, &types) {
        Ok(function) if diagnostics.is_empty() => {
            let function = function.with_sizes(&attr.sizes);
            Ok((attr, function))
        }
        Ok(_) => Err(diagnostics),
        Err(errors) => {
            diagnostics.append(errors);
            Err(diagnostics)
        }
    }
}
