//! Arguments: defaults, and what each kind may not carry.

use super::Lower;
use crate::diagnostic::SpanRange;
use crate::expr::Expr;
use crate::model::{
    Access, ArgSpec, ElemRef, ElemType, Fill, ScalarArg, ScalarType, ScalarValue, SliceArg,
};
use crate::parse::declaration::{ArgDecl, ArgKind, Spanned};

impl Lower<'_> {
    pub(super) fn arguments(&mut self) -> Vec<ArgSpec> {
        let args: Vec<ArgSpec> = (self.function.args.iter())
            .map(|arg| match &arg.kind {
                ArgKind::Scalar(ty) => ArgSpec::Scalar(self.scalar(arg, *ty)),
                ArgKind::Slice { elem, .. } => ArgSpec::Slice(self.slice(arg, elem)),
            })
            .collect();
        let writes = |arg: &ArgDecl| arg.access().is_some_and(Access::is_output);
        if !self.function.args.iter().any(writes) {
            let message = format!("kernel `{}` has no output", self.function.ident);
            let help = "a tuned kernel writes to at least one `&mut [T]`";
            self.report(self.name_span(), message, help);
        }
        args
    }

    fn scalar(&mut self, arg: &ArgDecl, ty: ScalarType) -> ScalarArg {
        let misplaced = [
            ("len", arg.len.as_ref().map(|e| e.span())),
            ("fill", arg.fill.as_ref().map(|f| f.span)),
            ("align", arg.align.as_ref().map(|e| e.span())),
            ("tolerance", arg.tolerance.as_ref().map(|t| t.span)),
            ("inout", arg.inout),
        ];
        for (name, span) in misplaced {
            if let Some(span) = span {
                let message = format!("`#[{name}]` on the scalar `{}`", arg.ident);
                self.report(span, message, "it describes slices; remove it");
            }
        }
        ScalarArg {
            name: arg.name(),
            ty,
            value: self.scalar_value(arg, ty),
        }
    }

    fn scalar_value(&mut self, arg: &ArgDecl, ty: ScalarType) -> Option<ScalarValue> {
        let Some(value) = &arg.value else {
            if ty == ScalarType::F32 {
                let message = format!("`{}` has no value to tune with", arg.ident);
                let help = "add `#[value(1.0)]`: only integers can be problem sizes";
                self.report(arg.ident.span(), message, help);
            }
            return None;
        };
        match (ty, value.value) {
            (ScalarType::F32, ScalarValue::Int(x)) => Some(ScalarValue::Float(x as f64)),
            (ScalarType::F32, ScalarValue::Float(x)) if (x as f32).is_finite() => {
                Some(ScalarValue::Float(x))
            }
            (_, ScalarValue::Int(x)) if ty.holds(x) => Some(ScalarValue::Int(x)),
            (_, ScalarValue::Int(x)) => {
                let message = format!("{x} does not fit `{}`, which is {ty}", arg.ident);
                self.report(value.span, message, "change the value or the type");
                None
            }
            (_, ScalarValue::Float(x)) => {
                let message = format!("{x:?} is no value of `{}`, which is {ty}", arg.ident);
                self.report(value.span, message, "change the value or the type");
                None
            }
        }
    }

    fn slice(&mut self, arg: &ArgDecl, elem: &ElemRef) -> SliceArg {
        let access = arg.access().unwrap_or(Access::In);
        if let Some(value) = &arg.value {
            let message = format!("`#[value]` on the slice `{}`", arg.ident);
            self.report(value.span, message, "slices take `#[fill(..)]`");
        }
        if let (Access::In, Some(inout)) = (access, arg.inout) {
            let message = format!("`#[inout]` on `{}`, which is read only", arg.ident);
            self.report(
                inout,
                message,
                "make it `&mut [T]`, or remove the attribute",
            );
        }
        if let (Access::Out, Some(fill)) = (access, &arg.fill) {
            let message = format!("`#[fill]` on the output `{}`", arg.ident);
            let help =
                "outputs are poisoned before each launch; add `#[inout]` if the kernel reads it";
            self.report(fill.span, message, help);
        }
        if let (Access::In, Some(tolerance)) = (access, &arg.tolerance) {
            let message = format!("`#[tolerance]` on the input `{}`", arg.ident);
            self.report(tolerance.span, message, "it bounds outputs; remove it");
        }
        SliceArg {
            name: arg.name(),
            elem: elem.clone(),
            access,
            len: self.slice_length(arg),
            fill: self.fill(arg, elem),
            align: arg.align.as_ref().map(|align| align.expr.clone()),
            tolerance: arg.tolerance.as_ref().map(|t| t.value),
        }
    }

    fn slice_length(&mut self, arg: &ArgDecl) -> Expr {
        match &arg.len {
            Some(len) => len.expr.clone(),
            None => {
                let message = format!("`{}` has no length", arg.ident);
                let help = "add `#[len(m * n)]`: its elements, in problem sizes";
                self.report(arg.ident.span(), message, help);
                Expr::Int(1)
            }
        }
    }

    fn fill(&mut self, arg: &ArgDecl, elem: &ElemRef) -> Fill {
        let choices = self.elem_choices(elem);
        match &arg.fill {
            Some(Spanned { value, span }) => {
                self.check_fill(*span, value, &choices);
                value.clone()
            }
            None if choices.iter().all(|ty| ty.is_float()) => Fill::Uniform {
                low: -1.0,
                high: 1.0,
            },
            None => Fill::Below(Expr::Int(16)),
        }
    }

    fn check_fill(&mut self, span: SpanRange, fill: &Fill, choices: &[ElemType]) {
        let (low, high) = match fill {
            Fill::Uniform { low, high } => (*low, *high),
            Fill::Constant(x) => (*x, *x),
            Fill::Below(_) | Fill::Iota => return,
        };
        for ty in choices {
            let Some((min, max)) = ty.integer_range() else {
                continue;
            };
            let whole = high.fract() == 0.0 && low.fract() == 0.0;
            // The upper bound of `uniform` is not reached.
            let reached = if low < high { high - 1.0 } else { high };
            if !whole || low < min || reached > max {
                let message = format!("fill from {low} to {high} does not suit {ty} elements");
                let help = format!("give whole numbers from {min} to {max}, or `below(n)`");
                self.report(span, message, &help);
            }
        }
    }
}
