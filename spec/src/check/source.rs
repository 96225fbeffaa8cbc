//! Checks a spec against the source of its kernel.

use super::constants;
use crate::codegen::CodegenError;
use crate::model::ArgSpec;
use crate::parse::ParsedKernel;
use crate::parse::declaration::ReferenceDecl;
use crate::source::{EntryError, EntryPath, SourceScan};
use crate::text::diagnostic::{Diagnostic, Diagnostics, SpanRange};
use crate::text::spelling::nearest;

/// Finds every difference between a spec and its source, such as a missing entry, a different argument list, or a
/// parameter that neither the code nor the launch uses.
pub fn check_source(kernel: &ParsedKernel, scan: &SourceScan) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    entries(kernel, scan, &mut diagnostics);
    constants::check(kernel, scan, &mut diagnostics);
    nested_launch(kernel, scan, &mut diagnostics);
    redefined(kernel, scan, &mut diagnostics);
    let attr = &kernel.attr;
    for param in &attr.params {
        let name = &*param.name.value;
        // A parameter with one value acts like `-DNAME` on a compiler's command line: the source may only test whether
        // the name is defined.
        let is_definition = param.values.len() == 1 && scan.is_tested(name);
        if !scan.mentions(name) && !is_definition && !changes_the_launch(kernel, name) {
            diagnostics.push(unmentioned(&param.name.value, param.name.span, scan));
        }
    }
    diagnostics
}

/// Reports a tunable parameter that the source itself defines as a macro. A parameter that the spec passes to the entry
/// as a template argument is not a macro, so it is not reported.
fn redefined(kernel: &ParsedKernel, scan: &SourceScan, diagnostics: &mut Diagnostics) {
    let entry = EntryPath::parse(&kernel.spec.entry);
    let is_argument = |name: &str| entry.as_ref().is_some_and(|path| path.mentions(name));
    let params = kernel.attr.params.iter().map(|param| &param.name);
    let macros: Vec<_> = params.filter(|name| !is_argument(&name.value)).collect();
    let is_defined = |found: &str| macros.iter().any(|name| *name.value == *found);
    let found: Vec<_> = scan.redefinitions(is_defined).collect();
    for name in &macros {
        if let Some(found) = found.iter().find(|found| *found.name == *name.value) {
            let error = CodegenError::ParamDefined {
                param: found.name.clone(),
                at: found.at.clone(),
            };
            diagnostics.push(from_text(name.span, &error.to_string()));
        }
    }
}

/// Reports a kernel that launches a kernel.
fn nested_launch(kernel: &ParsedKernel, scan: &SourceScan, diagnostics: &mut Diagnostics) {
    if let Some(at) = scan.launch_in(&kernel.spec.entry) {
        let name = SpanRange::from(kernel.function.ident.span());
        let span = kernel.attr.source.as_ref().map_or(name, |s| s.span);
        let message =
            format!("`<<<` ({at}) launches a kernel from a kernel, which Kiln does not support");
        let help = "launch the second kernel from Rust";
        diagnostics.push(Diagnostic::new(span, message).help(help));
    }
}

/// Checks the entries of the tuned kernel, the baseline and the reference. All of them must have the same arguments.
fn entries(kernel: &ParsedKernel, scan: &SourceScan, diagnostics: &mut Diagnostics) {
    let attr = &kernel.attr;
    let name_span = SpanRange::from(kernel.function.ident.span());
    let tuned = attr.entry.as_ref().map_or(name_span, |entry| entry.span);
    let baseline = attr.baseline.as_ref().and_then(|b| b.entry.as_ref());
    let reference = match &attr.reference {
        Some(ReferenceDecl::Entry(entry)) => Some(entry),
        _ => None,
    };
    let others = [baseline, reference].into_iter().flatten();
    let others = others.map(|entry| (entry.value.as_str(), entry.span));
    let mut checked: Vec<&str> = Vec::new();
    for (name, span) in std::iter::once((kernel.spec.entry.as_str(), tuned)).chain(others) {
        if checked.contains(&name) {
            continue;
        }
        checked.push(name);
        match scan.entry(name) {
            Ok(entry) => {
                for error in scan.compare_signature(&kernel.spec, &entry) {
                    let span = match error.argument() {
                        // The declaration belongs to the first entry. If another entry differs from it, report the
                        // error where the spec names that entry.
                        Some(_) if checked.len() > 1 => span,
                        Some(argument) => kernel.function.args[argument].ty,
                        None => span,
                    };
                    diagnostics.push(from_text(span, &error.to_string()));
                }
            }
            Err(error) => diagnostics.push(missing(name, span, &error, scan)),
        }
    }
}

fn missing(name: &str, span: SpanRange, error: &EntryError, scan: &SourceScan) -> Diagnostic {
    let diagnostic = from_text(span, &error.to_string());
    let kernels = scan.kernels().iter().map(|kernel| kernel.name.as_str());
    match (error, nearest(name, kernels)) {
        (EntryError::Unknown { .. }, Some(near)) => {
            diagnostic.help(format!("did you mean `{near}`?"))
        }
        _ => diagnostic,
    }
}

/// Whether the value of the parameter can change the launch. If it can, the code may depend on the value through
/// `blockDim` or `gridDim` without naming the parameter.
fn changes_the_launch(kernel: &ParsedKernel, name: &str) -> bool {
    let spec = &kernel.spec;
    let computed = spec.args.iter().filter_map(ArgSpec::computed);
    let mut exprs = spec.geometry.exprs().chain(computed);
    let template = EntryPath::parse(&spec.entry);
    exprs.any(|expr| expr.names().contains(name))
        || template.is_some_and(|path| path.mentions(name))
}

fn unmentioned(name: &str, span: SpanRange, scan: &SourceScan) -> Diagnostic {
    if scan.is_tested(name) {
        let message = format!(
            "the source only tests whether `{name}` is defined, and Kiln defines it for every value"
        );
        return Diagnostic::new(span, message).help(format!("test its value: `#if {name}`"));
    }
    let message =
        format!("the kernel's code never mentions `{name}`, nor do `grid`, `block` and `shared`");
    let help = match nearest(name, scan.identifiers().iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`? Every value would give the same launch"),
        None => {
            "every value would give the same launch of the same kernel: use it, or remove it".into()
        }
    };
    Diagnostic::new(span, message).help(help)
}

/// A diagnostic from a message that may end with a `help:` line.
fn from_text(span: SpanRange, text: &str) -> Diagnostic {
    match text.split_once("\nhelp: ") {
        Some((message, help)) => Diagnostic::new(span, message).help(help),
        None => Diagnostic::new(span, text),
    }
}
