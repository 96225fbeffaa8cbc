//! Generates the typed launch function.

use kiln_spec::parse::KernelFn;
use kiln_spec::parse::declaration::{ArgDecl, ArgKind};
use kiln_spec::{ElemRef, ElemType, ScalarType};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::CheckedKernel;
use super::paths::{local, private, public};

/// The launch function of a kernel.
pub(super) fn emit(kernel: &CheckedKernel) -> TokenStream {
    let function = &kernel.parsed.function;
    let name = &function.ident;
    let names: Vec<&str> = kernel
        .parsed
        .spec
        .types
        .iter()
        .map(|ty| &*ty.name)
        .collect();
    let signature = signature(function, &names);
    let docs = docs(kernel);
    let attrs = function
        .attrs
        .iter()
        .filter(|attr| !attr.path().is_ident("cfg"));
    let dims = dimensions(kernel);
    let slices: Vec<TokenStream> = function.args.iter().filter_map(raw_slice).collect();
    let (dim_count, slice_count) = (dims.len(), slices.len());
    let (stream, raw) = (local("stream"), local("slices"));
    let args = arguments(function, &raw);
    let computed = function.args.len() - function.taken().count();
    let (memo, launch, arg) = (private("Memo"), private("launch"), private("Arg"));
    quote! {
        #(#attrs)*
        #docs
        #signature {
            ::std::thread_local! {
                static MEMO: #memo<#dim_count, #slice_count, #computed> = const { #memo::new() };
            }
            let #raw = [#(#slices),*];
            #launch(
                &#name::KERNEL,
                &MEMO,
                #stream,
                [#(#dims),*],
                &#raw,
                [#(#args,)* #arg::RECEIPT],
            )
        }
    }
}

/// The launch function of a kernel with mistakes. It has the declared signature, so its callers type-check, but its
/// body never runs, because a kernel with mistakes does not compile.
pub(super) fn without_body(function: &KernelFn, types: &[&str]) -> TokenStream {
    let attrs = &function.attrs;
    let signature = signature_with(function, types, |_| quote!(::kiln::Element));
    let used = function.taken().map(|(_, arg)| &arg.ident);
    quote! {
        #(#attrs)*
        #signature {
            let _ = (#(#used),*);
            ::core::unreachable!("a kernel with mistakes does not compile")
        }
    }
}

fn signature(function: &KernelFn, types: &[&str]) -> TokenStream {
    let kernel = &function.ident;
    signature_with(function, types, |ty| quote!(#kernel::#ty))
}

fn signature_with(
    function: &KernelFn,
    types: &[&str],
    bound: impl Fn(&Ident) -> TokenStream,
) -> TokenStream {
    let (vis, name) = (&function.vis, &function.ident);
    let types = types.iter().map(|ty| Ident::new(ty, Span::call_site()));
    let bounds = types.map(|ty| {
        let bound = bound(&ty);
        quote!(#ty: #bound)
    });
    let stream = local("stream");
    let stream_type = public("Stream");
    let error = public("LaunchError");
    let params = function.taken().map(|(_, arg)| {
        let (ident, ty) = (&arg.ident, param_type(arg));
        quote!(#ident: #ty)
    });
    quote! {
        #[allow(clippy::too_many_arguments, clippy::many_single_char_names)]
        #vis fn #name<#(#bounds),*>(
            #stream: &#stream_type,
            #(#params),*
        ) -> ::core::result::Result<(), #error>
    }
}

/// The type of an argument: a number, a struct or array, or any type of device slice with the argument's elements.
fn param_type(arg: &ArgDecl) -> TokenStream {
    match &arg.kind {
        ArgKind::Scalar(ty) => {
            let ty = scalar_type(*ty);
            quote!(#ty)
        }
        ArgKind::Plain => plain_type(arg),
        ArgKind::Typed(ty) => elem_tokens(ty),
        ArgKind::Slice { mutable, elem } => {
            let elem = elem_tokens(elem);
            if *mutable {
                let slice = public("DeviceSliceMut");
                quote!(&mut impl #slice<#elem>)
            } else {
                let slice = public("DeviceSlice");
                quote!(&impl #slice<#elem>)
            }
        }
    }
}

/// The type of a struct or array, as the author wrote it.
pub(super) fn plain_type(arg: &ArgDecl) -> TokenStream {
    let ty = arg.plain.as_ref().map(|plain| &plain.ty);
    quote!(#ty)
}

/// The Rust type of a scalar.
pub(super) fn scalar_type(ty: ScalarType) -> TokenStream {
    let name = Ident::new(ty.name(), Span::call_site());
    quote!(::core::primitive::#name)
}

/// The Rust type of an element.
pub(super) fn elem_type(ty: ElemType) -> TokenStream {
    let name = Ident::new(ty.name(), Span::call_site());
    match ty {
        ElemType::F16 | ElemType::Bf16 => quote!(::kiln::#name),
        _ => quote!(::core::primitive::#name),
    }
}

/// The Rust type of an element: a fixed type, or the name of a type parameter.
pub(super) fn elem_tokens(elem: &ElemRef) -> TokenStream {
    match elem {
        ElemRef::Fixed(ty) => elem_type(*ty),
        ElemRef::Param(name) => {
            let name = format_ident!("{name}", span = Span::call_site());
            quote!(#name)
        }
    }
}

/// For each slice whose length depends on the config, a function that returns the length.
pub(super) fn lengths(kernel: &CheckedKernel) -> TokenStream {
    let spec = &kernel.parsed.spec;
    let types: Vec<Ident> = spec
        .types
        .iter()
        .map(|ty| format_ident!("{}", &*ty.name))
        .collect();
    let (dims, params) = (dimensions(kernel), size_params(kernel));
    let (stream, stream_type, error) = (local("stream"), public("Stream"), public("LaunchError"));
    let slice_len = private("slice_len");
    let depends = spec.slices().enumerate();
    let depends = depends.filter(|(_, slice)| spec.mentions_a_param(&slice.len));
    let functions = depends.map(|(place, slice)| {
        let name = format_ident!("{}_len", slice.name);
        let doc = format!(
            "Elements that `{}` must have in a launch for these sizes: `{}` of the config that it takes.",
            slice.name, slice.len
        );
        quote! {
            #[doc = #doc]
            ///
            /// # Errors
            /// When the length has no value for these sizes.
            #[allow(clippy::too_many_arguments, clippy::many_single_char_names)]
            pub fn #name<#(#types: self::#types),*>(
                #stream: &#stream_type,
                #(#params),*
            ) -> ::core::result::Result<::core::primitive::usize, #error> {
                #slice_len(&KERNEL, #stream, [#(#dims),*], #place)
            }
        }
    });
    quote!(#(#functions)*)
}

/// The problem sizes as function parameters, with their types.
pub(super) fn size_params(kernel: &CheckedKernel) -> Vec<TokenStream> {
    let sizes = kernel.parsed.function.args.iter();
    let sizes = sizes.filter(|arg| arg.is_dimension()).map(|arg| {
        let (ident, ty) = (&arg.ident, param_type(arg));
        quote!(#ident: #ty)
    });
    sizes.collect()
}

/// The dimensions of the problem in declared order, as integer expressions.
pub(super) fn dimensions(kernel: &CheckedKernel) -> Vec<TokenStream> {
    let spec = &kernel.parsed.spec;
    let dims = spec.dimensions().into_iter().map(|dim| {
        if spec.types.iter().any(|ty| &*ty.name == dim) {
            let (ty, element) = (format_ident!("{dim}"), private("Element"));
            let code = private("type_code");
            return quote!(#code(<#ty as #element>::TYPE));
        }
        let args = kernel.parsed.function.args.iter();
        let ident = args.map(|arg| &arg.ident).find(|ident| *ident == dim);
        let size = private("size");
        quote!(#size(#ident))
    });
    dims.collect()
}

/// The expression for the memory of a slice argument; `None` for other arguments.
fn raw_slice(arg: &ArgDecl) -> Option<TokenStream> {
    let ArgKind::Slice { elem, mutable } = &arg.kind else {
        return None;
    };
    let (ident, elem) = (&arg.ident, elem_tokens(elem));
    let slice = private("DeviceSlice");
    let shared = if *mutable {
        quote!(&*#ident)
    } else {
        quote!(#ident)
    };
    Some(quote_spanned!(ident.span()=> #slice::<#elem>::raw(#shared)))
}

/// The arguments of the kernel, in order. A slice argument refers to an element of `raw`, the array of all slices. A
/// computed argument is a placeholder, because the launch computes its value.
fn arguments(function: &KernelFn, raw: &Ident) -> Vec<TokenStream> {
    let arg_path = private("Arg");
    let mut slices = 0_usize;
    let mut argument = |arg: &ArgDecl| match arg.kind {
        ArgKind::Scalar(_) if arg.computed.is_some() => quote!(#arg_path::COMPUTED),
        ArgKind::Scalar(_) => {
            let ident = &arg.ident;
            quote!(#arg_path::scalar(&#ident))
        }
        ArgKind::Typed(_) => {
            let ident = &arg.ident;
            quote!(#arg_path::element(&#ident))
        }
        ArgKind::Plain => {
            let (ident, aligned) = (&arg.ident, private("Aligned"));
            quote!(#arg_path::plain(&#aligned(#ident)))
        }
        ArgKind::Slice { .. } => {
            let place = slices;
            slices += 1;
            quote!(#arg_path::slice(&#raw[#place]))
        }
    };
    let passed = function.args.iter().filter(|arg| !arg.launch_only);
    passed.map(&mut argument).collect()
}

/// The generated documentation, which follows the author's documentation.
fn docs(kernel: &CheckedKernel) -> TokenStream {
    let spec = &kernel.parsed.spec;
    let name = &spec.name;
    let own = kernel.parsed.function.attrs.iter();
    let documented = own.filter(|attr| attr.path().is_ident("doc")).count() > 0;
    let title = format!("Launches the tuned kernel `{name}` on a stream.");
    let title = (!documented).then(|| quote!(#[doc = #title]));
    let lens = spec.slices().map(|slice| {
        let line = format!("- `{}`: `{}` elements", slice.name, slice.len);
        quote!(#[doc = #line])
    });
    let errors = format!(
        "When a length, an alignment or the launch plan is not as the spec declares, or the device refuses: \
         see [`LaunchCause`](::kiln::LaunchCause). What is baked: [`{name}::KERNEL`]."
    );
    quote! {
        #title
        #[doc = ""]
        #(#lens)*
        #[doc = ""]
        #[doc = "# Errors"]
        #[doc = #errors]
    }
}
