//! Warnings, as uses of deprecated items: a stable macro has no other way to warn.
//!
//! An unfinished search is not a defect of the program, so a build under `-D warnings` succeeds: `warn(warnings)`
//! around the use keeps it a warning there, and respects an `allow(deprecated)` of the user. `KILN_STRICT=1` makes it
//! an error, and `untuned = allow` in the attribute states that it is intended.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::CheckedKernel;

/// A warning at the kernel's name for each missing or unused row.
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
