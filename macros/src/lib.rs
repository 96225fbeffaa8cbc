//! The `#[tuned_kernel]` attribute of the Kiln autotuner; use it through the `kiln` package.
//!
//! The macro is a pure function of the tokens it is given and of files it tracks: the kernel's source and
//! what that includes, and the baked tables. It opens no device, database, process or socket, reads no clock
//! and writes nothing.
#![forbid(unsafe_code)]

mod baked;
mod expand;
mod load;
mod symbols;
mod unusable;

use proc_macro::TokenStream;

/// Declares a tuned kernel: a safe launch function, a `KERNEL` static of the same name's module, and a smoke
/// test. See `kiln::tuned_kernel`.
#[proc_macro_attribute]
pub fn tuned_kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let site = load::DeclarationSite::of_call();
    expand::expand(attribute.into(), item.into(), &site).into()
}
