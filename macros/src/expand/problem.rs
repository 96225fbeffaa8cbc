//! Generates `<kernel>::problem(..)`, which creates a problem from typed sizes instead of text.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::CheckedKernel;
use super::launch_fn::{dimensions, size_params};
use super::paths::private;

/// The function that creates a problem from element types and sizes.
pub(super) fn emit(kernel: &CheckedKernel) -> TokenStream {
    let spec = &kernel.parsed.spec;
    let types = spec.types.iter();
    let types: Vec<_> = types.map(|ty| format_ident!("{}", &*ty.name)).collect();
    let (params, dims) = (size_params(kernel), dimensions(kernel));
    let (problem_type, problem) = (private("Problem"), private("problem"));
    quote! {
        /// The problem of a launch with these element types and sizes.
        #[allow(clippy::too_many_arguments, clippy::many_single_char_names)]
        pub fn problem<#(#types: self::#types),*>(#(#params),*) -> #problem_type {
            #problem(&KERNEL, &[#(#dims),*])
        }
    }
}
