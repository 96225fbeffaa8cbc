//! `__constant__` variables against the spec.

use crate::diagnostic::{Diagnostic, Diagnostics, SpanRange};
use crate::parse::ParsedKernel;
use crate::source::SourceScan;

/// Reports `__constant__` variables that nobody gives a value: a kernel that reads zeros computes wrong results.
pub(super) fn unfilled(kernel: &ParsedKernel, scan: &SourceScan, diagnostics: &mut Diagnostics) {
    let span = match &kernel.attr.source {
        Some(source) => source.span,
        None => SpanRange::from(kernel.function.ident.span()),
    };
    let spec = &kernel.spec;
    let mut reported: Vec<&str> = Vec::new();
    for entry in [&spec.entry, &spec.baseline.entry] {
        for constant in scan.constants_of(entry) {
            if constant.initialised || reported.contains(&constant.name.as_str()) {
                continue;
            }
            reported.push(&constant.name);
            let message = format!(
                "nothing gives the `__constant__` variable `{}` a value ({})",
                constant.name, constant.at
            );
            let help = "give it an initialiser in the source: without one it is all zeros";
            diagnostics.push(Diagnostic::new(span, message).help(help));
        }
    }
}
