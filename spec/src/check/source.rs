//! A spec against its source.

use crate::diagnostic::{Diagnostic, Diagnostics, SpanRange};
use crate::parse::ParsedKernel;
use crate::parse::declaration::ReferenceDecl;
use crate::source::{EntryError, SourceScan};
use crate::spelling::nearest;

/// Every difference between a spec and its source: entries that are not there, another argument list,
/// a parameter that the code never mentions.
pub fn check_source(kernel: &ParsedKernel, scan: &SourceScan) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    entries(kernel, scan, &mut diagnostics);
    let attr = &kernel.attr;
    for param in &attr.params {
        if !scan.mentions(&param.name.value) {
            diagnostics.push(unmentioned(&param.name.value, param.name.span, scan));
        }
    }
    diagnostics
}

/// The tuned entry, the baseline's and the reference's: all take the same arguments.
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
                        // Another entry differs from the declaration: that is where it is named.
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

fn unmentioned(name: &str, span: SpanRange, scan: &SourceScan) -> Diagnostic {
    let message = format!("the source never mentions `{name}`");
    let help = match nearest(name, scan.identifiers().iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`? Every value would give the same kernel"),
        None => "every value would give the same kernel: use it in the source, or remove it".into(),
    };
    Diagnostic::new(span, message).help(help)
}

/// A message that may end in its own `help:` line.
fn from_text(span: SpanRange, text: &str) -> Diagnostic {
    match text.split_once("\nhelp: ") {
        Some((message, help)) => Diagnostic::new(span, message).help(help),
        None => Diagnostic::new(span, text),
    }
}
