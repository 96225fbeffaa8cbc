//! The `#[tuned_kernel]` attribute of the Kiln autotuner; use it through the `kiln` package.
//!
//! The macro is a pure function of its tokens and of tracked files: the kernel's source with its includes, and the
//! baked tables. It opens no device, database, process or socket, reads no clock and writes nothing.
#![forbid(unsafe_code)]

mod baked;
mod expand;
mod load;
mod symbols;
mod unusable;

use proc_macro::TokenStream;

/// Declares a tuned kernel: a safe launch function, a module of the same name with a `KERNEL` static, and a smoke
/// test. See `kiln::tuned_kernel`.
#[proc_macro_attribute]
pub fn tuned_kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let site = load::DeclarationSite::of_call();
    expand::expand(attribute.into(), item.into(), &site).into()
}
