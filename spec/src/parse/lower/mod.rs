//! Converts a declaration to a kernel spec: adds defaults, expands problems over element types, and puts names into
//! declared order.

mod arguments;
mod baseline;
mod config;
mod problems;

use super::declaration::{ArgDecl, GeometryDecl, KernelAttr, KernelFn, ReferenceDecl, Spanned};
use super::expression::SpannedExpr;
use super::parsed::ParsedKernel;
use crate::expr::Expr;
use crate::model::{
    Access, Constraint, ElemRef, ElemType, Geometry, KernelSpec, Reference, Tolerance,
    TunableParam, TypeParam, Work,
};
use crate::text::diagnostic::{Diagnostic, Diagnostics, SpanRange};

/// The default tolerance of outputs with `f32` or integer elements.
const DEFAULT_TOLERANCE: Tolerance = Tolerance {
    relative: 1e-5,
    absolute: 0.0,
};

/// The default tolerance of `f64` outputs.
const DOUBLE_TOLERANCE: Tolerance = Tolerance {
    relative: 1e-12,
    absolute: 0.0,
};

pub(super) struct Lower<'a> {
    attr: &'a KernelAttr,
    function: &'a KernelFn,
    diagnostics: Diagnostics,
}

/// Converts a declaration to a spec. A missing required item is a mistake.
pub(super) fn lower(attr: KernelAttr, function: KernelFn) -> Result<ParsedKernel, Diagnostics> {
    let mut lower = Lower {
        attr: &attr,
        function: &function,
        diagnostics: Diagnostics::new(),
    };
    let spec = lower.spec();
    let diagnostics = lower.diagnostics;
    diagnostics.into_result(ParsedKernel {
        spec,
        attr,
        function,
    })
}

impl Lower<'_> {
    /// The span of the kernel's name, at which missing items are reported.
    fn name_span(&self) -> SpanRange {
        self.function.ident.span().into()
    }

    fn report(&mut self, span: impl Into<SpanRange>, message: impl Into<String>, help: &str) {
        let diagnostic = Diagnostic::new(span, message).help(help);
        self.diagnostics.push(diagnostic);
    }

    fn spec(&mut self) -> KernelSpec {
        let name = self.function.ident.to_string();
        let entry = match &self.attr.entry {
            Some(entry) => entry.value.clone(),
            None => name.clone(),
        };
        let args = self.arguments();
        let dims = self.dimensions();
        let geometry = self.kernel_geometry();
        let problems = self.tuned_problems(&dims);
        let gpu_problems = self.gpu_problems(&dims, &problems);
        KernelSpec {
            source: self.source(),
            types: self.types(),
            params: self.params(),
            constraints: constraints(&self.attr.constraints),
            baseline: self.baseline(&entry),
            try_first: self.try_first(),
            geometry,
            only: self.attr.only.iter().map(|backend| backend.value).collect(),
            equal_stores: self.attr.equal_stores.is_some(),
            unwritten_reads: self.attr.unwritten_reads.is_some(),
            problems,
            gpu_problems,
            verify: self.verify_problems(&dims),
            work: Work {
                flops: expr(&self.attr.flops),
                bytes: expr(&self.attr.bytes),
            },
            tolerance: self.tolerance(),
            reference: self.reference(),
            inputs: self.attr.inputs.as_ref().map(path_text),
            args,
            name,
            entry,
        }
    }

    fn source(&mut self) -> String {
        match &self.attr.source {
            Some(source) if !source.value.is_empty() => source.value.clone(),
            Some(source) => {
                self.report(
                    source.span,
                    "the source's path is empty",
                    "name the `.cu` file",
                );
                String::new()
            }
            None => {
                let help = "add `source = \"kernel.cu\"`, relative to this file";
                self.report(self.name_span(), "the kernel has no source", help);
                String::new()
            }
        }
    }

    fn types(&self) -> Vec<TypeParam> {
        let types = self.attr.types.iter();
        types
            .map(|ty| TypeParam {
                name: ty.name.value.clone(),
                choices: ty.values.iter().map(|v| v.value).collect(),
            })
            .collect()
    }

    fn params(&self) -> Vec<TunableParam> {
        let params = self.attr.params.iter();
        params
            .map(|param| TunableParam {
                name: param.name.value.clone(),
                values: param.values.iter().map(|v| v.value.clone()).collect(),
            })
            .collect()
    }

    fn kernel_geometry(&mut self) -> Geometry {
        let decl = &self.attr.geometry;
        if decl.grid.is_none() {
            let help = "add `grid(n.div_ceil(BLOCK))`: blocks per axis";
            self.report(self.name_span(), "the kernel has no grid", help);
        }
        if decl.block.is_none() {
            let help = "add `block(BLOCK)`: threads of a block per axis";
            self.report(self.name_span(), "the kernel has no block", help);
        }
        self.geometry(decl)
    }

    fn geometry(&mut self, decl: &GeometryDecl) -> Geometry {
        for (what, axes) in [("grid", &decl.grid), ("block", &decl.block)] {
            if let Some(axes) = axes
                && !(1..=3).contains(&axes.value.len())
            {
                let message = format!("a {what} has one to three axes, found {}", axes.value.len());
                self.report(
                    axes.span,
                    message,
                    "they are x, y and z; missing ones are 1",
                );
            }
        }
        Geometry {
            grid: axes(&decl.grid),
            block: axes(&decl.block),
            shared_bytes: expr(&decl.shared_bytes),
        }
    }

    fn tolerance(&mut self) -> Tolerance {
        if let Some(tolerance) = &self.attr.tolerance {
            return tolerance.value;
        }
        let coarse = |ty: ElemType| matches!(ty, ElemType::F16 | ElemType::Bf16);
        for arg in &self.function.args {
            let is_output = matches!(arg.access(), Some(access) if access.is_output());
            let Some(elem) = arg.elem().filter(|_| is_output && arg.tolerance.is_none()) else {
                continue;
            };
            let choices = self.elem_choices(elem);
            let doubles = choices.iter().filter(|ty| **ty == ElemType::F64).count();
            let floats = choices.iter().filter(|ty| ty.is_float()).count();
            if let Some(ty) = choices.into_iter().find(|ty| coarse(*ty)) {
                let message = format!("no tolerance for the {ty} output `{}`", arg.ident);
                let help =
                    "add `tolerance(relative = ..)`: the default of 1e-5 is finer than the type";
                self.report(arg.ident.span(), message, help);
            } else if (1..floats).contains(&doubles) {
                let message = format!("no tolerance for `{}`, which is f32 or f64", arg.ident);
                let help = "add `tolerance(relative = ..)`: f32 and f64 have different defaults";
                self.report(arg.ident.span(), message, help);
            }
        }
        DEFAULT_TOLERANCE
    }

    /// The tolerance that an output declares. If neither the output nor the kernel declares one, an `f64` output gets
    /// its default. `None` if the kernel's tolerance applies.
    fn output_tolerance(&self, arg: &ArgDecl, elem: &ElemRef) -> Option<Tolerance> {
        let choices = self.elem_choices(elem);
        let all_doubles = choices.contains(&ElemType::F64)
            && choices
                .iter()
                .all(|ty| *ty == ElemType::F64 || !ty.is_float());
        let is_output = arg.access().is_some_and(Access::is_output);
        let by_default = is_output && all_doubles && self.attr.tolerance.is_none();
        let own = arg.tolerance.as_ref().map(|tolerance| tolerance.value);
        own.or(by_default.then_some(DOUBLE_TOLERANCE))
    }

    /// The element types that a slice may have.
    fn elem_choices(&self, elem: &ElemRef) -> Vec<ElemType> {
        match elem {
            ElemRef::Fixed(ty) => vec![*ty],
            ElemRef::Param(name) => {
                let param = self.attr.types.iter().find(|t| *t.name.value == **name);
                param.map_or(Vec::new(), |t| t.values.iter().map(|v| v.value).collect())
            }
        }
    }

    fn reference(&self) -> Option<Reference> {
        Some(match self.attr.reference.as_ref()? {
            ReferenceDecl::Rust(path) => Reference::Rust(path_text(path)),
            ReferenceDecl::Entry(entry) => Reference::Entry(entry.value.clone()),
        })
    }
}

fn expr(decl: &Option<SpannedExpr>) -> Option<Expr> {
    decl.as_ref().map(|spanned| spanned.expr.clone())
}

fn axes(decl: &Option<Spanned<Vec<SpannedExpr>>>) -> Vec<Expr> {
    let axes = decl.iter().flat_map(|axes| &axes.value);
    axes.map(|axis| axis.expr.clone()).collect()
}

fn path_text(path: &syn::Path) -> String {
    let segments: Vec<_> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    let root = if path.leading_colon.is_some() {
        "::"
    } else {
        ""
    };
    format!("{root}{}", segments.join("::"))
}

fn constraints(declared: &[SpannedExpr]) -> Vec<Constraint> {
    let declared = declared.iter();
    declared
        .map(|constraint| Constraint {
            expr: constraint.expr.clone(),
        })
        .collect()
}
