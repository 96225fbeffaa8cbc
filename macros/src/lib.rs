//! The `#[tuned_kernel]` attribute of the Kiln autotuner.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;

/// Declares a tuned kernel.
#[proc_macro_attribute]
pub fn tuned_kernel(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    item
}
