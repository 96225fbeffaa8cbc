//! The module of a kernel: its `KERNEL` static, and the bounds of its type parameters.

use kiln_spec::codegen::{Symbol, Target, symbol_hash};
use kiln_spec::parse::declaration::ReferenceDecl;
use kiln_spec::{Config, ElemType, Problem, ProblemValue};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};

use super::Checked;
use super::launch_fn::elem_type;
use super::paths::{launch_adapter, private, reference_adapter};

/// `pub mod <kernel> { pub static KERNEL … }`.
pub(super) fn module(kernel: &Checked) -> TokenStream {
    let function = &kernel.parsed.function;
    let (vis, name) = (&function.vis, &function.ident);
    let doc = format!("What is baked of the tuned kernel `{name}`.");
    let bounds = type_bounds(kernel);
    let kernel_type = private("Kernel");
    let parts = parts(kernel);
    quote! {
        #[doc = #doc]
        #vis mod #name {
            /// Spec, source, baked rows and reference.
            pub static KERNEL: #kernel_type = #kernel_type::new(#parts);
            #bounds
        }
    }
}

fn parts(kernel: &Checked) -> TokenStream {
    let spec = &kernel.parsed.spec;
    let (name, package, json) = (&spec.name, &kernel.package, spec.to_json());
    let source = kernel.source.text.text();
    let baseline_symbols = type_combinations(kernel).into_iter().map(|problem| {
        symbols(
            kernel,
            &spec.baseline.entry,
            &spec.baseline.config,
            &problem,
        )
    });
    let ident = &kernel.parsed.function.ident;
    let launch = launch_adapter(ident);
    let reference = match &kernel.parsed.attr.reference {
        Some(ReferenceDecl::Rust(_)) => {
            let adapter = reference_adapter(ident);
            quote!(::core::option::Option::Some(super::#adapter))
        }
        _ => quote!(::core::option::Option::None),
    };
    let parts = private("KernelParts");
    quote! {
        #parts {
            name: #name,
            package: #package,
            spec_json: #json,
            source: #source,
            rows: &[],
            baseline_symbols: &[#(#baseline_symbols),*],
            accepted: &[],
            reference: #reference,
            launch: super::#launch,
        }
    }
}

/// The symbols of an entry's config in each dialect.
fn symbols(kernel: &Checked, entry: &str, config: &Config, problem: &Problem) -> TokenStream {
    let spec = &kernel.parsed.spec;
    let hash = kernel.source.text.hash();
    let symbol = |target| {
        let number = symbol_hash(hash, spec, entry, config, problem, target)
            .expect("a checked config should have a symbol");
        Symbol::release(entry, number).as_str().to_owned()
    };
    let (cpu, cuda, hip) = (
        symbol(Target::Cpu),
        symbol(Target::Cuda),
        symbol(Target::Hip),
    );
    let symbols = private("ConstSymbols");
    quote!(#symbols { cpu: #cpu, cuda: #cuda, hip: #hip })
}

/// A problem of only types for each combination of element types; the last parameter varies fastest.
fn type_combinations(kernel: &Checked) -> Vec<Problem> {
    let types = &kernel.parsed.spec.types;
    let mut combinations: Vec<Vec<ElemType>> = vec![Vec::new()];
    for param in types {
        let extend = |chosen: Vec<ElemType>| {
            let choices = param.choices.iter();
            choices.map(move |choice| [chosen.as_slice(), &[*choice]].concat())
        };
        combinations = combinations.into_iter().flat_map(extend).collect();
    }
    let problem = |chosen: Vec<ElemType>| {
        let named = types.iter().zip(chosen);
        Problem::new(named.map(|(param, ty)| (param.name.clone(), ProblemValue::Type(ty))))
    };
    combinations.into_iter().map(problem).collect()
}

/// A trait for each type parameter, which only its declared types have.
fn type_bounds(kernel: &Checked) -> TokenStream {
    let bounds = kernel.parsed.spec.types.iter().map(|param| {
        let name = format_ident!("{}", &*param.name, span = Span::call_site());
        let list: Vec<&str> = param.choices.iter().map(|ty| ty.name()).collect();
        let doc = format!("The types that `{name}` may be: {}.", list.join(", "));
        let types = param.choices.iter().map(|ty| elem_type(*ty));
        let element = private("Element");
        quote! {
            #[doc = #doc]
            pub trait #name: #element {}
            #(impl #name for #types {})*
        }
    });
    quote!(#(#bounds)*)
}
