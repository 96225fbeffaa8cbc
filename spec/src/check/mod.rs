//! Checks the meaning of a spec, and reports every mistake with its position and a help text.
//!
//! The macro and the command line run the same checks. The checks read no clock, file or device, and a check that has
//! to search takes a bounded number of steps. Their results are therefore the same on every machine. A condition that
//! depends on the device is a mistake only if it fails on every known [target](crate::targets).

mod constants;
mod expressions;
mod names;
mod problems;
mod reserved;
mod satisfiable;
mod source;
#[cfg(test)]
mod tests;

pub use source::check_source;

use crate::parse::{KernelAttr, KernelFn, ParsedKernel};
use crate::text::diagnostic::{Diagnostic, Diagnostics, SpanRange};

/// Finds every mistake in the meaning of a kernel spec, except mistakes in its names, which [`names`] finds.
///
/// The kinds of expressions are checked first. If a kind or a name is wrong, no expression is evaluated.
pub(crate) fn meaning(kernel: &ParsedKernel, names_are_right: bool) -> Diagnostics {
    let mut check = SpecCheck {
        kernel,
        diagnostics: Diagnostics::new(),
    };
    check.expressions();
    if names_are_right && check.diagnostics.is_empty() {
        check.problems();
        check.satisfiable();
    }
    check.diagnostics
}

/// Finds every name that has two meanings, is reserved or is not defined.
pub(crate) fn names(attr: &KernelAttr, function: &KernelFn) -> Diagnostics {
    let mut names = names::DeclaredNames {
        attr,
        function,
        diagnostics: Diagnostics::new(),
    };
    names.check();
    names.diagnostics
}

struct SpecCheck<'a> {
    kernel: &'a ParsedKernel,
    diagnostics: Diagnostics,
}

impl SpecCheck<'_> {
    fn report(&mut self, span: impl Into<SpanRange>, message: impl Into<String>, help: &str) {
        self.diagnostics
            .push(Diagnostic::new(span, message).help(help));
    }
}
