//! Generates warnings as uses of deprecated items, because a macro cannot emit warnings on stable Rust.
//!
//! Missing rows are not a defect of the program, so a build under `-D warnings` must succeed. The attribute
//! `warn(warnings)` around the use keeps the message a warning in such builds. The attributes `allow(deprecated)` and
//! `deny(deprecated)` of the user still apply. `KILN_STRICT=1` turns the warning into an error. `untuned = allow` in
//! the attribute states that the kernel has no rows on purpose.

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
        // The use has the span of the name, so that rustc shows the warning at the declaration.
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
