//! Generates the module of a kernel: its static `KERNEL`, its problems, and the bounds of its type parameters.

use kiln_spec::baked::Evidence;
use kiln_spec::parse::declaration::ReferenceDecl;
use kiln_spec::{Config, ElemType, LaunchPlan, ParamValue, Problem, ProblemValue};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::CheckedKernel;
use super::launch_fn::{self, elem_type};
use super::paths::{inputs_adapter, launch_adapter, private, reference_adapter};
use super::problem;
use super::reference::variant;
use crate::baked::FreshRow;
use crate::symbols::Symbols;

/// The module `pub mod <kernel> { pub static KERNEL … }`.
pub(super) fn module(kernel: &CheckedKernel) -> TokenStream {
    let function = &kernel.parsed.function;
    let (vis, name) = (&function.vis, &function.ident);
    let doc = format!("What is baked of the tuned kernel `{name}`.");
    let bounds = type_bounds(kernel);
    let lengths = launch_fn::lengths(kernel);
    let problem = problem::emit(kernel);
    let kernel_type = private("Kernel");
    let parts = parts(kernel);
    quote! {
        #[doc = #doc]
        #vis mod #name {
            /// Spec, source, baked rows and reference of the kernel.
            pub static KERNEL: #kernel_type = #kernel_type::new(#parts);
            #problem
            #bounds
            #lengths
        }
    }
}

fn parts(kernel: &CheckedKernel) -> TokenStream {
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
    let rows = kernel.baked.rows.iter().map(|row| row_literal(kernel, row));
    let accepted = kernel.parsed.attr.evidence.iter();
    let accepted = accepted.map(|kind| evidence(kind.value));
    let ident = &kernel.parsed.function.ident;
    let launch = launch_adapter(ident);
    let reference = match &kernel.parsed.attr.reference {
        Some(ReferenceDecl::Rust(_)) => {
            let adapter = reference_adapter(ident);
            quote!(::core::option::Option::Some(super::#adapter))
        }
        _ => quote!(::core::option::Option::None),
    };
    let inputs = match &kernel.parsed.attr.inputs {
        Some(_) => {
            let adapter = inputs_adapter(ident);
            quote!(::core::option::Option::Some(super::#adapter))
        }
        None => quote!(::core::option::Option::None),
    };
    let parts = private("KernelParts");
    quote! {
        #parts {
            name: #name,
            package: #package,
            spec_json: #json,
            source: #source,
            rows: &[#(#rows),*],
            baseline_symbols: &[#(#baseline_symbols),*],
            accepted: &[#(#accepted),*],
            reference: #reference,
            inputs: #inputs,
            launch: super::#launch,
        }
    }
}

/// The symbols of an entry with a config, for each family of compilers.
fn symbols(kernel: &CheckedKernel, entry: &str, config: &Config, problem: &Problem) -> TokenStream {
    let (spec, source) = (&kernel.parsed.spec, kernel.source.text.hash());
    let Symbols { cpu, cuda, hip } = Symbols::new(source, spec, entry, config, problem)
        .expect("the config of a checked spec should have a symbol");
    let symbols = private("ConstSymbols");
    quote!(#symbols { cpu: #cpu, cuda: #cuda, hip: #hip })
}

/// The expression for one row of the constant table.
fn row_literal(kernel: &CheckedKernel, fresh: &FreshRow) -> TokenStream {
    let (row, resolved) = (&fresh.row, &fresh.resolved);
    let (path, device_path, backend_path) = (
        private("BakedRow"),
        private("RowDevice"),
        private("Backend"),
    );
    let backend = named(&row.device.backend);
    let (arch, name) = (&row.device.arch, &row.device.name);
    let problem = resolved.problem.iter().map(|(_, value)| dimension(value));
    let config = resolved.config.iter().map(|(_, value)| param_value(value));
    let symbols = symbols(kernel, &row.entry, &resolved.config, &resolved.problem);
    let (plan, evidence) = (plan(&row.plan), evidence(row.evidence));
    let is_baseline = resolved.is_baseline;
    let image = image(fresh);
    quote! {
        #path {
            device: #device_path {
                backend: #backend_path::#backend,
                arch: #arch,
                name: #name,
            },
            problem: &[#(#problem),*],
            config: &[#(#config),*],
            is_baseline: #is_baseline,
            symbols: #symbols,
            plan: #plan,
            evidence: #evidence,
            image: #image,
        }
    }
}

/// The name of a value's enum variant, as an identifier.
fn named(variant: &dyn std::fmt::Debug) -> Ident {
    Ident::new(&format!("{variant:?}"), Span::call_site())
}

fn dimension(value: ProblemValue) -> TokenStream {
    let path = private("ConstDimension");
    match value {
        ProblemValue::Size(size) => quote!(#path::Size(#size)),
        ProblemValue::Type(ty) => {
            let ty = variant(ty);
            quote!(#path::Type(#ty))
        }
    }
}

fn param_value(value: &ParamValue) -> TokenStream {
    let path = private("ConstValue");
    match value {
        ParamValue::Int(x) => quote!(#path::Int(#x)),
        ParamValue::Bool(x) => quote!(#path::Bool(#x)),
        ParamValue::Choice(x) => {
            let x = &**x;
            quote!(#path::Choice(#x))
        }
    }
}

fn plan(plan: &LaunchPlan) -> TokenStream {
    let path = private("LaunchPlan");
    let LaunchPlan {
        grid,
        block,
        shared_bytes,
    } = plan;
    quote!(#path { grid: [#(#grid),*], block: [#(#block),*], shared_bytes: #shared_bytes })
}

fn evidence(evidence: Evidence) -> TokenStream {
    let (path, name) = (private("Evidence"), named(&evidence));
    quote!(#path::#name)
}

fn image(fresh: &FreshRow) -> TokenStream {
    let (Some(path), Some(image)) = (&fresh.image, &fresh.row.image) else {
        return quote!(::core::option::Option::None);
    };
    let (image_path, target) = (private("ConstImage"), &image.target);
    let hash = image.hash.to_string();
    let file = path.to_str().unwrap_or_default();
    quote! {
        ::core::option::Option::Some(#image_path {
            target: #target,
            hash: #hash,
            bytes: ::core::include_bytes!(#file),
        })
    }
}

/// For each combination of element types, a problem that contains only the types. The last type parameter varies
/// fastest.
fn type_combinations(kernel: &CheckedKernel) -> Vec<Problem> {
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

/// A trait for each type parameter. Only the declared types of the parameter implement it.
fn type_bounds(kernel: &CheckedKernel) -> TokenStream {
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
