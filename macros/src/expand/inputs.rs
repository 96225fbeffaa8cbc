//! Generates an adapter for the Rust function that generates a kernel's inputs. All adapters have the same signature,
//! so that the runtime can call them. Inside the adapter, rustc checks the types of the function's arguments.

use kiln_spec::Access;
use kiln_spec::parse::declaration::ArgKind;
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::launch_fn::{elem_tokens, plain_type, scalar_type};
use super::paths::{inputs_adapter, local, private};
use super::reference::for_each_type;
use super::{CheckedKernel, plain};

/// The adapter. `None` if the spec names no function for inputs.
pub(super) fn adapter(kernel: &CheckedKernel) -> Option<TokenStream> {
    let path = kernel.parsed.attr.inputs.as_ref()?;
    let adapter = inputs_adapter(&kernel.parsed.function.ident);
    let call = local("call");
    let call_type = private("InputsCall");
    let body = for_each_type(kernel, &call, &one_call(kernel, path, &call));
    Some(quote! {
        #[doc(hidden)]
        #[allow(clippy::too_many_arguments, clippy::type_complexity)]
        fn #adapter(#call: &mut #call_type) {
            #body
        }
    })
}

/// The code that reads the inputs of a call, calls the function and stores its results.
fn one_call(kernel: &CheckedKernel, path: &syn::Path, call: &Ident) -> TokenStream {
    let (mut types, mut takes, mut passes, mut puts) = (vec![], vec![], vec![], vec![]);
    for (number, arg) in kernel.parsed.function.taken() {
        let data = local(&format!("argument_{number}"));
        match &arg.kind {
            ArgKind::Scalar(ty) => {
                let ty = scalar_type(*ty);
                types.push(quote!(#ty));
                takes.push(quote!(let #data = #call.scalar::<#ty>(#number);));
                passes.push(quote!(#data));
            }
            ArgKind::Typed(ty) => {
                let ty = elem_tokens(ty);
                types.push(quote!(#ty));
                takes.push(quote!(let #data = #call.element::<#ty>(#number);));
                passes.push(quote!(#data));
            }
            ArgKind::Plain => {
                types.push(plain_type(arg));
                takes.push(plain::from_call(arg, &data, call, number));
                passes.push(quote!(#data));
            }
            ArgKind::Slice { .. } if arg.access() == Some(Access::Out) => {}
            ArgKind::Slice { elem, .. } => {
                let elem = elem_tokens(elem);
                types.push(quote!(&mut [#elem]));
                takes.push(quote!(let mut #data = #call.take::<#elem>(#number);));
                passes.push(quote!(&mut #data));
                puts.push(quote!(#call.put::<#elem>(#number, &#data);));
            }
        }
    }
    let inputs = local("inputs");
    let u64 = scalar_type(kiln_spec::ScalarType::U64);
    let checked = quote_spanned!(path.span()=> let #inputs: fn(#u64, #(#types),*) = #path;);
    quote! {
        #checked
        #(#takes)*
        #inputs(#call.seed(), #(#passes),*);
        #(#puts)*
    }
}
