//! The paths and names that generated code uses. The paths of private items start with `::kiln::__private`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

/// The path `::kiln::__private::<name>`.
pub(super) fn private(name: &str) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    quote!(::kiln::__private::#name)
}

/// The path `::kiln::<name>`, for names that users see in signatures.
pub(super) fn public(name: &str) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    quote!(::kiln::#name)
}

/// The name of the hidden function that adapts the reference of a kernel.
pub(super) fn reference_adapter(kernel: &Ident) -> Ident {
    format_ident!("__kiln_{kernel}_reference", span = Span::call_site())
}

/// The name of the hidden function that adapts the function for a kernel's inputs.
pub(super) fn inputs_adapter(kernel: &Ident) -> Ident {
    format_ident!("__kiln_{kernel}_inputs", span = Span::call_site())
}

/// The name of the hidden function that calls a kernel's launch function with arguments known only at run time.
pub(super) fn launch_adapter(kernel: &Ident) -> Ident {
    format_ident!("__kiln_{kernel}_launch", span = Span::call_site())
}

/// The name of the module that contains a kernel's smoke test.
pub(super) fn smoke_module(kernel: &Ident) -> Ident {
    format_ident!("kiln_smoke_{kernel}", span = Span::call_site())
}

/// A local variable of generated code. Its name cannot collide with a name of the user.
pub(super) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
