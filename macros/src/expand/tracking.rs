//! Makes cargo rebuild the package if a file or environment variable on which the expansion depends changes.

use proc_macro2::TokenStream;
use quote::quote;

use super::CheckedKernel;
use kiln_spec::baked::{STRICT_VARIABLE, TUNED_VARIABLE};

/// An anonymous constant that names the files and variables. It occupies no memory in the program.
pub(super) fn emit(kernel: &CheckedKernel) -> TokenStream {
    let paths = kernel.source.paths.iter().chain(&kernel.baked.paths);
    let files = paths.filter_map(|path| path.to_str());
    let variables = [TUNED_VARIABLE, STRICT_VARIABLE];
    quote! {
        const _: () = {
            #(const _: &[u8] = ::core::include_bytes!(#files);)*
            #(const _: ::core::option::Option<&str> = ::core::option_env!(#variables);)*
        };
    }
}
