//! Expands a parsed kernel to tokens. One small function generates each item.

mod inputs;
mod launch_fn;
mod paths;
mod plain;
mod problem;
mod reference;
mod smoke;
mod table;
#[cfg(test)]
mod tests;
mod tracking;
mod warning;

use kiln_spec::diagnostic::{Diagnostic, Diagnostics, SpanRange};
use kiln_spec::parse::{KernelFn, ParsedKernel};
use kiln_spec::source::reduce;
use proc_macro2::TokenStream;
use quote::quote;

use crate::baked::{self, BakedRows, BuildWarning};
use crate::load::{DeclarationSite, Loaded};

/// A kernel whose declaration, source and baked rows were read and checked.
pub(crate) struct CheckedKernel {
    parsed: ParsedKernel,
    source: Loaded,
    baked: BakedRows,
    package: String,
}

/// Expands `#[tuned_kernel(attribute)] item`.
///
/// If there are mistakes, the result contains an error at the position of each mistake, and a launch function with the
/// declared signature. Because the function exists, its callers cause no further errors.
pub(crate) fn expand(
    attribute: TokenStream,
    item: TokenStream,
    site: &DeclarationSite,
) -> TokenStream {
    match check(attribute.clone(), item.clone(), site) {
        Ok(checked) => items(&checked),
        Err(diagnostics) => {
            let errors = diagnostics
                .to_syn_error()
                .map(syn::Error::into_compile_error);
            let attr = kiln_spec::parse::KernelAttr::parse(attribute).0;
            let names: Vec<&str> = attr.types.iter().map(|ty| &*ty.name.value).collect();
            let signature = KernelFn::parse(item, &names)
                .ok()
                .map(|function| launch_fn::without_body(&function.with_sizes(&attr.sizes), &names));
            quote!(#errors #signature)
        }
    }
}

fn check(
    attribute: TokenStream,
    item: TokenStream,
    site: &DeclarationSite,
) -> Result<CheckedKernel, Diagnostics> {
    let parsed = kiln_spec::parse::kernel(attribute, item)?;
    let source = load(&parsed, site)?;
    let name = parsed.function.ident.span();
    let mut baked =
        baked::load(site, &parsed.spec, &source.text).map_err(|error| one(name.into(), &error))?;
    if parsed.attr.untuned.is_some() {
        baked.allow_untuned();
    }
    let strict = site
        .strict
        .clone()
        .map_err(|error| one(name.into(), &error))?;
    if strict && !baked.warnings.is_empty() {
        let texts: Vec<&str> = baked.warnings.iter().map(BuildWarning::text).collect();
        return Err(one(name.into(), &texts.join("\n")));
    }
    Ok(CheckedKernel {
        parsed,
        source,
        baked,
        package: site.package.clone(),
    })
}

/// Reads the source of a kernel, and compares the declaration with it.
fn load(parsed: &ParsedKernel, site: &DeclarationSite) -> Result<Loaded, Diagnostics> {
    let span = match &parsed.attr.source {
        Some(source) => source.span,
        None => parsed.function.ident.span().into(),
    };
    let Loaded { text, paths } = site
        .load_source(&parsed.spec.source)
        .map_err(|error| one(span, &error))?;
    let (text, scan) = reduce(text, &parsed.spec.entries()).map_err(|error| one(span, &error))?;
    kiln_spec::check::check_source(parsed, &scan).into_result(Loaded { text, paths })
}

/// The diagnostics for a single mistake. The text of the error may end with a `help:` line.
fn one(span: SpanRange, error: &dyn std::fmt::Display) -> Diagnostics {
    let text = error.to_string();
    let diagnostic = match text.split_once("\nhelp: ") {
        Some((message, help)) => Diagnostic::new(span, message).help(help),
        None => Diagnostic::new(span, text),
    };
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    diagnostics
}

fn items(kernel: &CheckedKernel) -> TokenStream {
    let items = [
        launch_fn::emit(kernel),
        plain::layouts(kernel),
        table::module(kernel),
        reference::adapter(kernel).unwrap_or_default(),
        inputs::adapter(kernel).unwrap_or_default(),
        smoke::launch_adapter(kernel),
        smoke::test(kernel),
        tracking::emit(kernel),
        warning::emit(kernel),
    ];
    let attrs = &kernel.parsed.function.attrs;
    let conditions: Vec<_> = attrs
        .iter()
        .filter(|attr| attr.path().is_ident("cfg"))
        .collect();
    let items = items.iter().filter(|item| !item.is_empty());
    items.map(|item| quote!(#(#conditions)* #item)).collect()
}
