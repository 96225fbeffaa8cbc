//! The paths in generated code. All of them go through here, to `::kiln::__private`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

/// `::kiln::__private::<name>`.
pub(super) fn private(name: &str) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    quote!(::kiln::__private::#name)
}

/// `::kiln::<name>`: visible to users in signatures.
pub(super) fn public(name: &str) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    quote!(::kiln::#name)
}

/// The hidden function that adapts the reference of a kernel.
pub(super) fn reference_adapter(kernel: &Ident) -> Ident {
    format_ident!("__kiln_{kernel}_reference", span = Span::call_site())
}

/// The hidden function that adapts the function that generates a kernel's inputs.
pub(super) fn inputs_adapter(kernel: &Ident) -> Ident {
    format_ident!("__kiln_{kernel}_inputs", span = Span::call_site())
}

/// The hidden function that calls the launch function of a kernel with run-time arguments.
pub(super) fn launch_adapter(kernel: &Ident) -> Ident {
    format_ident!("__kiln_{kernel}_launch", span = Span::call_site())
}

/// The module of the smoke test.
pub(super) fn smoke_module(kernel: &Ident) -> Ident {
    format_ident!("kiln_smoke_{kernel}", span = Span::call_site())
}

/// A local variable of generated code, which cannot collide with a name of the user.
pub(super) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
