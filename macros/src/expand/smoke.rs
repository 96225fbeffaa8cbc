//! Generates the items for smoke tests: a launch with arguments known only at run time, and the test itself.

use kiln_spec::parse::declaration::ArgKind;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::launch_fn::{elem_tokens, scalar_type};
use super::paths::{self, local, private};
use super::reference::for_each_type;
use super::{CheckedKernel, plain};

/// The hidden function that calls the launch function with arguments that are known only at run time.
pub(super) fn launch_adapter(kernel: &CheckedKernel) -> TokenStream {
    let name = &kernel.parsed.function.ident;
    let adapter = paths::launch_adapter(name);
    let call = local("call");
    let (call_type, error) = (private("LaunchCall"), private("LaunchError"));
    let body = for_each_type(kernel, &call, &one_call(kernel, &call));
    quote! {
        #[doc(hidden)]
        fn #adapter(#call: &mut #call_type<'_>) -> ::core::result::Result<(), #error> {
            #body
        }
    }
}

fn one_call(kernel: &CheckedKernel, call: &Ident) -> TokenStream {
    let function = &kernel.parsed.function;
    let (mut takes, mut passes, mut puts) = (vec![], vec![], vec![]);
    for (number, arg) in function.taken() {
        let data = local(&format!("argument_{number}"));
        match &arg.kind {
            ArgKind::Scalar(ty) => {
                let ty = scalar_type(*ty);
                takes.push(quote!(let #data = #call.scalar::<#ty>(#number);));
                passes.push(quote!(#data));
            }
            ArgKind::Typed(ty) => {
                let ty = elem_tokens(ty);
                takes.push(quote!(let #data = #call.element::<#ty>(#number);));
                passes.push(quote!(#data));
            }
            ArgKind::Plain => {
                let take = plain::from_call(arg, &data, call, number);
                takes.push(take);
                passes.push(quote!(#data));
            }
            ArgKind::Slice { mutable, elem } => {
                let elem = elem_tokens(elem);
                let mutability = mutable.then(|| quote!(mut));
                takes.push(quote!(let #mutability #data = #call.take::<#elem>(#number);));
                passes.push(quote!(&#mutability #data));
                puts.push(quote!(#call.put::<#elem>(#number, #data);));
            }
        }
    }
    let name = &function.ident;
    let types = kernel.parsed.spec.types.iter();
    let types: Vec<Ident> = types
        .map(|ty| format_ident!("{}", &*ty.name, span = Span::call_site()))
        .collect();
    let turbofish = (!types.is_empty()).then(|| quote!(::<#(#types),*>));
    let (stream, launched) = (local("stream"), local("launched"));
    quote! {
        let #stream = #call.stream();
        #(#takes)*
        let #launched = #name #turbofish (#stream, #(#passes),*);
        #(#puts)*
        #launched
    }
}

/// The module that contains the smoke test of a kernel.
pub(super) fn test(kernel: &CheckedKernel) -> TokenStream {
    let name = &kernel.parsed.function.ident;
    let module = paths::smoke_module(name);
    quote! {
        #[cfg(test)]
        mod #module {
            #[test]
            fn every_baked_row_launches_as_intended() {
                ::kiln::smoke::test(
                    &super::#name::KERNEL,
                    ::core::concat!(
                        ::core::module_path!(),
                        "::every_baked_row_launches_as_intended"
                    ),
                );
            }
        }
    }
}
