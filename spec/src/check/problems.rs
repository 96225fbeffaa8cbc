//! Checks the lengths of slices, the values that fill them, computed arguments and the work for the declared problems.

use super::SpecCheck;
use crate::expr::evaluate_int;
use crate::model::ArgSpec;
use crate::parse::SpannedExpr;
use crate::plan::LaunchScope;
use crate::problem::Problem;

impl SpecCheck<'_> {
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
        self.computed();
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

    /// Checks that the values of computed arguments fit their types for every declared problem, with the baseline's
    /// config.
    fn computed(&mut self) {
        let kernel = self.kernel;
        let spec = &kernel.spec;
        let problems = || spec.all_problems().chain(&spec.verify);
        for (decl, arg) in kernel.function.args.iter().zip(&spec.args) {
            let (Some(written), ArgSpec::Scalar(scalar)) = (&decl.computed, arg) else {
                continue;
            };
            let config = &spec.baseline.config;
            let wrong = |problem: &Problem| {
                let value = spec.computed(scalar, &written.expr, config, problem);
                Some((value.err()?, problem.clone()))
            };
            if let Some((error, problem)) = problems().find_map(wrong) {
                let message = format!("{error} for the baseline and {problem}");
                let help = "change the expression, or the type of the argument";
                self.report(written.span(), message, help);
            }
        }
    }

    /// Checks that the value of an expression is at least `least` for every declared problem. Reports only the first
    /// problem that violates this. `what` names the value in the message.
    fn at_least(&mut self, expr: &SpannedExpr, least: i128, what: &str) {
        let spec = &self.kernel.spec;
        // If the value depends on the config, the baseline's config is used.
        let wrong = |problem: &Problem| {
            let scope = LaunchScope {
                config: &spec.baseline.config,
                problem,
                limits: None,
                spec,
            };
            match evaluate_int(&expr.expr, &scope) {
                Ok(value) if value >= least => None,
                Ok(value) => Some(format!("{what} is {value} for {problem}")),
                Err(error) => Some(format!("{error} for {problem}")),
            }
        };
        let found = spec.all_problems().chain(&spec.verify).find_map(wrong);
        if let Some(message) = found {
            let help = format!("it must be at least {least} for every declared problem");
            self.report(expr.span(), message, &help);
        }
    }
}
