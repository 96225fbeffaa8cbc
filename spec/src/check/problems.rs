//! What declared problems make of lengths, fills and work.

use super::Check;
use crate::expr::evaluate_int;
use crate::parse::SpannedExpr;
use crate::problem::Problem;

impl Check<'_> {
    pub(super) fn problems(&mut self) {
        let kernel = self.kernel;
        for arg in &kernel.function.args {
            if let Some(len) = &arg.len {
                self.at_least(len, 1, "the length of a slice");
            }
            if let Some(below) = &arg.fill_expr {
                self.at_least(below, 1, "the bound of a fill");
            }
        }
        for work in kernel.attr.flops.iter().chain(&kernel.attr.bytes) {
            self.at_least(work, 0, "the work");
        }
        if !self.diagnostics.is_empty() {
            return;
        }
        let declared = kernel.spec.all_problems().chain(&kernel.spec.verify);
        for problem in declared {
            if let Err(error) = kernel.spec.footprint_bytes(problem) {
                let message = format!("{error} for {problem}");
                let help = "check the lengths: all slices together must fit 64 bits";
                self.report(kernel.function.ident.span(), message, help);
                break;
            }
        }
    }

    /// The value must be so large for every declared problem; the first that is not is reported.
    fn at_least(&mut self, expr: &SpannedExpr, least: i128, what: &str) {
        let spec = &self.kernel.spec;
        let wrong = |problem: &Problem| match evaluate_int(&expr.expr, problem) {
            Ok(value) if value >= least => None,
            Ok(value) => Some(format!("{what} is {value} for {problem}")),
            Err(error) => Some(format!("{error} for {problem}")),
        };
        let found = spec.all_problems().chain(&spec.verify).find_map(wrong);
        if let Some(message) = found {
            let help = format!("it must be at least {least} for every declared problem");
            self.report(expr.span(), message, &help);
        }
    }
}
