//! The `#[tuned_kernel]` attribute of the Kiln autotuner. Use it through the `kiln` package.
//!
//! The expansion depends only on the macro's tokens and on tracked files: the kernel's source with its includes, and
//! the baked tables. The macro opens no device, database, process or socket. It reads no clock and writes nothing.
#![forbid(unsafe_code)]

mod baked;
mod expand;
mod load;
mod symbols;
mod unusable;

use proc_macro::TokenStream;

/// Declares a tuned kernel. Generates a safe launch function, a module of the same name with the static `KERNEL`, and
/// a smoke test. See `kiln::tuned_kernel`.
#[proc_macro_attribute]
pub fn tuned_kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let site = load::DeclarationSite::of_call();
    expand::expand(attribute.into(), item.into(), &site).into()
}
