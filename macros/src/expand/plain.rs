//! Generates the code for structs and arrays that are passed by value. Their layout is checked at build time. At run
//! time their values are read from a call, field by field.

use kiln_spec::model::{Plain, offsets};
use kiln_spec::parse::declaration::ArgDecl;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::CheckedKernel;
use super::launch_fn::{plain_type, scalar_type};

/// The statement `let data: Type = ..;`, which reads the argument from the bytes of a call.
pub(super) fn from_call(arg: &ArgDecl, data: &Ident, call: &Ident, number: usize) -> TokenStream {
    let ty = plain_type(arg);
    let value = arg
        .plain
        .as_ref()
        .map(|plain| value(&plain.value, 0, call, number));
    quote!(let #data: #ty = #value;)
}

fn value(plain: &Plain, at: usize, call: &Ident, number: usize) -> TokenStream {
    match plain {
        Plain::Number(ty, _) => {
            let ty = scalar_type(*ty);
            quote!(#call.field::<#ty>(#number, #at))
        }
        Plain::Array(elements) => {
            let elements = elements
                .iter()
                .enumerate()
                .map(|(i, element)| value(element, at + i * element.layout().bytes, call, number));
            quote!([#(#elements),*])
        }
        Plain::Struct { ty, fields } => {
            let ty = path(ty);
            let fields = offsets(fields).map(|(offset, field)| {
                let name = format_ident!("{}", field.name);
                let value = value(&field.value, at + offset, call, number);
                quote!(#name: #value)
            });
            quote!(#ty { #(#fields),* })
        }
    }
}

/// Assertions that every struct has the same layout in Rust as in the spec. The source is compared with the spec
/// separately.
pub(super) fn layouts(kernel: &CheckedKernel) -> TokenStream {
    let args = kernel.parsed.function.args.iter();
    args.filter_map(|arg| arg.plain.as_ref())
        .map(|plain| layout(&plain.value))
        .collect()
}

fn layout(plain: &Plain) -> TokenStream {
    match plain {
        Plain::Number(..) => TokenStream::new(),
        Plain::Array(elements) => elements.first().map(layout).unwrap_or_default(),
        Plain::Struct { ty: name, fields } => {
            let (ty, layout_of) = (path(name), plain.layout());
            let (bytes, align) = (layout_of.bytes, layout_of.align);
            let message = format!("`{name}` is not laid out as in C: add `#[repr(C)]` to it");
            let lie = offsets(fields).map(|(offset, field)| {
                let field = format_ident!("{}", field.name);
                quote!(&& ::core::mem::offset_of!(#ty, #field) == #offset)
            });
            let inner = fields.iter().map(|field| layout(&field.value));
            quote! {
                const _: () = ::core::assert!(
                    ::core::mem::size_of::<#ty>() == #bytes
                        && ::core::mem::align_of::<#ty>() == #align
                        #(#lie)*,
                    #message
                );
                #(#inner)*
            }
        }
    }
}

/// The path of a type as tokens.
fn path(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}
