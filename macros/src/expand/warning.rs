//! Warnings: uses of deprecated items, which is what a stable macro can warn with.
//!
//! An unfinished search is not a defect of the program, so a build under `-D warnings` goes on: `warn(warnings)` around
//! the use keeps it a warning there, and leaves an `allow(deprecated)` of the user as it is. `KILN_STRICT=1` is the way
//! to make it an error, and `untuned = allow` in the attribute the way to say that it is intended.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::CheckedKernel;

/// A warning at the kernel's name for everything that is not baked and should be.
pub(super) fn emit(kernel: &CheckedKernel) -> TokenStream {
    let function = &kernel.parsed.function;
    let levels = function.attrs.iter().filter(|attr| {
        let path = attr.path();
        path.is_ident("allow") || path.is_ident("deny") || path.is_ident("forbid")
    });
    if kernel.baked.warnings.is_empty() {
        return TokenStream::new();
    }
    let name = &function.ident;
    let warnings = kernel.baked.warnings.iter().map(|warning| {
        let note = format!("kiln: {}", warning.text());
        // The use carries the span, so that the warning is shown at the declaration.
        let used = quote_spanned!(name.span()=> #name);
        quote! {{
            #[allow(non_upper_case_globals)]
            #[deprecated(note = #note)]
            const #name: () = ();
            #used
        }}
    });
    quote! {
        #[warn(warnings)]
        #(#levels)*
        const _: () = { #(#warnings;)* };
    }
}
