//! What a spec means: every mistake, each with its place and what to do.
//!
//! The macro and the command line run the same checks. Nothing here reads a clock, a file or a device;
//! where a check has to search, it takes a bounded number of steps, so that the answer is the same on
//! every machine. What depends on a device is an error only if it fails on every known
//! [target](crate::targets).

mod expressions;
mod names;
mod problems;
mod reserved;
mod satisfiable;
mod source;
#[cfg(test)]
mod tests;

pub use source::check_source;

use crate::diagnostic::{Diagnostic, Diagnostics, SpanRange};
use crate::parse::ParsedKernel;

/// Every mistake of meaning in a kernel spec.
///
/// Names and kinds come first: if they are wrong, nothing is evaluated.
pub fn check(kernel: &ParsedKernel) -> Diagnostics {
    let mut check = Check {
        kernel,
        diagnostics: Diagnostics::new(),
    };
    check.names();
    check.expressions();
    if check.diagnostics.is_empty() {
        check.problems();
        check.satisfiable();
    }
    check.diagnostics
}

struct Check<'a> {
    kernel: &'a ParsedKernel,
    diagnostics: Diagnostics,
}

impl Check<'_> {
    fn report(&mut self, span: impl Into<SpanRange>, message: impl Into<String>, help: &str) {
        self.diagnostics
            .push(Diagnostic::new(span, message).help(help));
    }
}
