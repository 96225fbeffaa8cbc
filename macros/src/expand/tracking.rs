//! What makes cargo rebuild: every file and variable that the expansion depends on.

use proc_macro2::TokenStream;
use quote::quote;

use super::Checked;

/// Anonymous constants that name the files and variables; they leave no bytes in the program.
pub(super) fn emit(kernel: &Checked) -> TokenStream {
    let files = kernel.source.paths.iter().filter_map(|path| path.to_str());
    quote! {
        #(const _: &[u8] = ::core::include_bytes!(#files);)*
    }
}
