//! Generates an adapter for the Rust reference of a kernel. All adapters have the same signature, so that the runtime
//! can call them. Inside the adapter, rustc checks the types of the reference's arguments.

use kiln_spec::ElemType;
use kiln_spec::parse::declaration::{ArgKind, ReferenceDecl};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::launch_fn::{elem_tokens, elem_type, plain_type, scalar_type};
use super::paths::{local, private, reference_adapter};
use super::{CheckedKernel, plain};

/// The adapter. `None` if the spec names no Rust reference.
pub(super) fn adapter(kernel: &CheckedKernel) -> Option<TokenStream> {
    let Some(ReferenceDecl::Rust(path)) = &kernel.parsed.attr.reference else {
        return None;
    };
    let adapter = reference_adapter(&kernel.parsed.function.ident);
    let call = local("call");
    let call_type = private("ReferenceCall");
    let body = for_each_type(kernel, &call, &one_call(kernel, path, &call));
    Some(quote! {
        #[doc(hidden)]
        #[allow(clippy::too_many_arguments, clippy::type_complexity)]
        fn #adapter(#call: &mut #call_type) {
            #body
        }
    })
}

/// The code that reads the arguments of a call, calls the function and stores the outputs.
fn one_call(kernel: &CheckedKernel, path: &syn::Path, call: &Ident) -> TokenStream {
    let args = kernel.parsed.function.taken();
    let (mut types, mut takes, mut passes, mut puts) = (vec![], vec![], vec![], vec![]);
    for (number, arg) in args {
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
            ArgKind::Slice { mutable, elem } => {
                let elem = elem_tokens(elem);
                if *mutable {
                    let element = private("Element");
                    types.push(quote!(&mut [<#elem as #element>::Wide]));
                    takes.push(quote!(let mut #data = #call.take_output::<#elem>(#number);));
                    passes.push(quote!(&mut #data));
                    puts.push(quote!(#call.put_output::<#elem>(#number, #data);));
                } else {
                    types.push(quote!(&[#elem]));
                    takes.push(quote!(let #data = #call.input::<#elem>(#number);));
                    passes.push(quote!(&#data));
                }
            }
        }
    }
    let reference = local("reference");
    let checked = quote_spanned!(path.span()=> let #reference: fn(#(#types),*) = #path;);
    quote! {
        #checked
        #(#takes)*
        #reference(#(#passes),*);
        #(#puts)*
    }
}

/// Repeats the code for each combination of element types. In each copy, the name of a type parameter is an alias of
/// its element type.
pub(super) fn for_each_type(
    kernel: &CheckedKernel,
    call: &Ident,
    code: &TokenStream,
) -> TokenStream {
    let spec = &kernel.parsed.spec;
    spec.types.iter().rev().fold(code.clone(), |inner, param| {
        let name = &*param.name;
        let alias = format_ident!("{name}", span = Span::call_site());
        let arms = param.choices.iter().map(|choice| {
            let (variant, ty) = (variant(*choice), elem_type(*choice));
            quote! {
                #variant => {
                    #[allow(dead_code)]
                    type #alias = #ty;
                    #inner
                }
            }
        });
        quote! {
            match #call.elem_type(#name) {
                #(#arms)*
                _ => ::core::unreachable!("`{}` should be one of its declared types", #name),
            }
        }
    })
}

/// The path of a type's variant, such as `::kiln::__private::Type::F32`.
pub(super) fn variant(ty: ElemType) -> TokenStream {
    let name = format!("{ty:?}");
    let (ty, name) = (private("Type"), Ident::new(&name, Span::call_site()));
    quote!(#ty::#name)
}
