//! Every path that generated code names goes through here, to `::kiln::__private`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

/// `::kiln::__private::<name>`.
pub(super) fn private(name: &str) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    quote!(::kiln::__private::#name)
}

/// `::kiln::<name>`: what users see in signatures.
pub(super) fn public(name: &str) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    quote!(::kiln::#name)
}

/// The hidden function that adapts the reference of a kernel.
pub(super) fn reference_adapter(kernel: &Ident) -> Ident {
    format_ident!("__kiln_{kernel}_reference", span = Span::call_site())
}

/// The hidden function that adapts the function that makes a kernel's inputs.
pub(super) fn inputs_adapter(kernel: &Ident) -> Ident {
    format_ident!("__kiln_{kernel}_inputs", span = Span::call_site())
}

/// The hidden function that calls the launch function of a kernel with run-time arguments.
pub(super) fn launch_adapter(kernel: &Ident) -> Ident {
    format_ident!("__kiln_{kernel}_launch", span = Span::call_site())
}

/// The smoke test's module.
pub(super) fn smoke_module(kernel: &Ident) -> Ident {
    format_ident!("kiln_smoke_{kernel}", span = Span::call_site())
}

/// A local of generated code, which no name of the user's can meet.
pub(super) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
