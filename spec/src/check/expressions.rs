//! Checks the names and the kinds (integer, boolean, name) in expressions.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::SpecCheck;
use crate::config::ParamValue;
use crate::expr::{BinaryOp, BuiltinFunction, Expr, UnaryOp};
use crate::model::{Access, ElemType};
use crate::parse::SpannedExpr;
use crate::parse::declaration::NamedValues;
use crate::text::diagnostic::SpanRange;
use crate::text::spelling::nearest;

/// The place where an expression is used. It determines which names the expression may contain and which kind its value
/// must have.
#[derive(Clone, Copy)]
struct ExprPlace {
    what: &'static str,
    kind: ExprKind,
    params: bool,
    dims: bool,
    device: bool,
    /// The help text for an expression that uses a tunable parameter although this place does not allow it.
    no_params: &'static str,
}

const SIZES_ONLY: &str = "callers know sizes, not configs: use problem sizes only";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExprKind {
    Int,
    Bool,
}

const CONSTRAINT: ExprPlace = ExprPlace {
    what: "a constraint",
    kind: ExprKind::Bool,
    params: true,
    dims: true,
    device: true,
    no_params: SIZES_ONLY,
};
const GEOMETRY: ExprPlace = ExprPlace {
    what: "the geometry",
    kind: ExprKind::Int,
    ..CONSTRAINT
};
const LENGTH: ExprPlace = ExprPlace {
    what: "a length",
    params: false,
    device: false,
    ..GEOMETRY
};
/// The length of an output that is compared element by element. It must not depend on the config, because different
/// configs would write different elements.
const OUTPUT_LENGTH: ExprPlace = ExprPlace {
    no_params: "two configs would write different elements; say what is compared: `#[compare(sum)]`, `max`, `min`, \
                or `none` for a workspace",
    ..LENGTH
};
const COMPARED_LENGTH: ExprPlace = ExprPlace {
    params: true,
    ..LENGTH
};
const COMPUTED: ExprPlace = ExprPlace {
    what: "a computed argument",
    params: true,
    ..LENGTH
};
const FILL: ExprPlace = ExprPlace {
    what: "a fill",
    ..LENGTH
};
const WORK: ExprPlace = ExprPlace {
    what: "the work",
    ..LENGTH
};
const ALIGNMENT: ExprPlace = ExprPlace {
    what: "an alignment",
    params: true,
    dims: false,
    ..LENGTH
};

/// The kind of a subexpression, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
enum FoundName {
    Int,
    Bool,
    /// One of these names, which are choices or element types.
    Name(BTreeSet<Arc<str>>),
    /// The subexpression contains a mistake that was already reported. The enclosing expressions report nothing more.
    Wrong,
}

/// A subexpression and the kind that was found for it.
struct ExprPart<'e> {
    expr: &'e Expr,
    span: SpanRange,
    found: FoundName,
}

impl FoundName {
    fn name(&self) -> &'static str {
        match self {
            FoundName::Int => "an integer",
            FoundName::Bool => "a truth value",
            FoundName::Name(_) | FoundName::Wrong => "a name",
        }
    }
}

impl SpecCheck<'_> {
    pub(super) fn expressions(&mut self) {
        let kernel = self.kernel;
        let attr = &kernel.attr;
        let own = attr.baseline.iter().flat_map(|b| &b.constraints);
        for constraint in attr.constraints.iter().chain(own) {
            self.expression(constraint, CONSTRAINT);
        }
        let baseline = attr.baseline.iter().flat_map(|b| b.geometry.exprs());
        for expr in attr.geometry.exprs().chain(baseline) {
            self.expression(expr, GEOMETRY);
        }
        for expr in attr.flops.iter().chain(&attr.bytes) {
            self.expression(expr, WORK);
        }
        for arg in &kernel.function.args {
            let length = match arg.access() {
                Some(Access::Out) if arg.compare.is_some() => COMPARED_LENGTH,
                Some(Access::Out) => OUTPUT_LENGTH,
                _ => LENGTH,
            };
            let parts = [
                (&arg.len, length),
                (&arg.fill_expr, FILL),
                (&arg.align, ALIGNMENT),
                (&arg.computed, COMPUTED),
            ];
            for (expr, place) in parts {
                if let Some(expr) = expr {
                    self.expression(expr, place);
                }
            }
        }
    }

    fn expression(&mut self, expr: &SpannedExpr, place: ExprPlace) {
        let mut spans = expr.spans().iter().copied();
        let found = self.infer(&expr.expr, &mut spans, place).found;
        let expected = match place.kind {
            ExprKind::Int => FoundName::Int,
            ExprKind::Bool => FoundName::Bool,
        };
        if found != expected && found != FoundName::Wrong {
            let message = format!("{} must be {}", place.what, expected.name());
            let help = format!("`{}` is {}", expr.expr, found.name());
            self.report(expr.span(), message, &help);
        }
    }

    /// Determines the kind of an expression and reports the mistakes inside it. `spans` yields the spans of its
    /// subexpressions in the order of [`Expr::walk`].
    fn infer<'e>(
        &mut self,
        expr: &'e Expr,
        spans: &mut dyn Iterator<Item = SpanRange>,
        place: ExprPlace,
    ) -> ExprPart<'e> {
        let span = spans.next();
        let span = span.expect("an expression should have a span for each of its parts");
        let found = match expr {
            Expr::Int(_) => FoundName::Int,
            Expr::Bool(_) => FoundName::Bool,
            Expr::Name(name) => self.name(name, span, place),
            Expr::Device(_) if place.device => FoundName::Int,
            Expr::Device(_) => {
                let message = format!("{} cannot depend on the device", place.what);
                self.report(span, message, "it is the same on every device");
                FoundName::Wrong
            }
            Expr::Unary(op, x) => {
                let part = self.infer(x, spans, place);
                let wanted = match op {
                    UnaryOp::Neg => FoundName::Int,
                    UnaryOp::Not => FoundName::Bool,
                };
                self.want(part, wanted)
            }
            Expr::Binary(op, x, y) => {
                let left = self.infer(x, spans, place);
                let right = self.infer(y, spans, place);
                self.operator(*op, left, right, span)
            }
            Expr::Call(function, arguments) => {
                let parts = arguments.iter().map(|x| self.infer(x, spans, place));
                let parts: Vec<ExprPart<'_>> = parts.collect();
                self.call(*function, parts)
            }
        };
        ExprPart { expr, span, found }
    }

    fn call(&mut self, function: BuiltinFunction, arguments: Vec<ExprPart<'_>>) -> FoundName {
        let mut result = FoundName::Int;
        for part in arguments {
            let found = match function {
                BuiltinFunction::SizeOf => self.element_type(part),
                _ => self.want(part, FoundName::Int),
            };
            if found == FoundName::Wrong {
                result = FoundName::Wrong;
            }
        }
        result
    }

    /// Returns `wanted` if the subexpression has this kind. Otherwise, reports the mistake and returns `Wrong`.
    fn want(&mut self, part: ExprPart<'_>, wanted: FoundName) -> FoundName {
        let ExprPart { expr, span, found } = part;
        if found == wanted || found == FoundName::Wrong {
            return found;
        }
        let message = format!("`{expr}` is {}, not {}", found.name(), wanted.name());
        let help = match (&found, &wanted) {
            (FoundName::Int, FoundName::Bool) => "compare it: `x != 0`",
            (FoundName::Name(_), _) => "names can only be compared: `LAYOUT == row`",
            _ => "truth values go with `&&`, `||`, `!`, `==` and `!=`",
        };
        self.report(span, message, help);
        FoundName::Wrong
    }

    fn operator(
        &mut self,
        op: BinaryOp,
        left: ExprPart<'_>,
        right: ExprPart<'_>,
        span: SpanRange,
    ) -> FoundName {
        let (operands, result) = match op {
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Shl
            | BinaryOp::Shr => (FoundName::Int, FoundName::Int),
            BinaryOp::And | BinaryOp::Or => (FoundName::Bool, FoundName::Bool),
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                (FoundName::Int, FoundName::Bool)
            }
            BinaryOp::Eq | BinaryOp::Ne => return self.equality(&left, &right, span),
        };
        let left = self.want(left, operands.clone());
        let right = self.want(right, operands);
        if left == FoundName::Wrong || right == FoundName::Wrong {
            FoundName::Wrong
        } else {
            result
        }
    }

    fn equality(
        &mut self,
        left: &ExprPart<'_>,
        right: &ExprPart<'_>,
        span: SpanRange,
    ) -> FoundName {
        let (x, y) = (left.expr, right.expr);
        match (&left.found, &right.found) {
            (FoundName::Wrong, _) | (_, FoundName::Wrong) => FoundName::Wrong,
            (FoundName::Name(a), FoundName::Name(b)) if a.is_disjoint(b) => {
                let list = |names: &BTreeSet<Arc<str>>| {
                    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                    names.join(", ")
                };
                let message = format!("`{x}` and `{y}` are never equal");
                let help = format!(
                    "the values of the first are {}; those of the second are {}",
                    list(a),
                    list(b)
                );
                self.report(span, message, &help);
                FoundName::Wrong
            }
            (FoundName::Name(_), FoundName::Name(_)) => FoundName::Bool,
            (a, b) if a == b => FoundName::Bool,
            (a, b) => {
                let message = format!("`{x}` is {}, but `{y}` is {}", a.name(), b.name());
                self.report(span, message, "only values of one kind can be compared");
                FoundName::Wrong
            }
        }
    }

    fn element_type(&mut self, part: ExprPart<'_>) -> FoundName {
        let is_type = |name: &Arc<str>| ElemType::from_name(name).is_some();
        match part.found {
            FoundName::Wrong => FoundName::Wrong,
            FoundName::Name(names) if names.iter().all(is_type) => FoundName::Int,
            _ => {
                let message = format!("`size_of` takes an element type, not `{}`", part.expr);
                let help = "give it a type parameter, or write the number of bytes";
                self.report(part.span, message, help);
                FoundName::Wrong
            }
        }
    }

    fn name(&mut self, name: &str, span: SpanRange, place: ExprPlace) -> FoundName {
        let kernel = self.kernel;
        let attr = &kernel.attr;
        let is_dimension = kernel.function.dimensions().any(|(dim, _)| dim == name);
        if let Some(param) = attr.params.iter().find(|p| &*p.name.value == name) {
            if place.params {
                return param_kind(param);
            }
            let what = place.what;
            let message = format!("{what} cannot depend on the tunable parameter `{name}`");
            self.report(span, message, place.no_params);
        } else if let Some(ty) = attr.types.iter().find(|t| &*t.name.value == name) {
            return FoundName::Name(ty.values.iter().map(|v| v.value.name().into()).collect());
        } else if is_dimension && place.dims {
            return FoundName::Int;
        } else if is_dimension {
            let message = format!("{} cannot depend on the problem size `{name}`", place.what);
            let help = "use tunable parameters and type parameters only";
            self.report(span, message, help);
        } else if kernel.spec.literal(name).is_some() {
            return FoundName::Name([name.into()].into());
        } else {
            self.unknown(name, span);
        }
        FoundName::Wrong
    }

    fn unknown(&mut self, name: &str, span: SpanRange) {
        let kernel = self.kernel;
        if let Some(arg) = kernel.function.args.iter().find(|arg| arg.ident == name) {
            let help = match arg.access() {
                Some(_) => "slices have no value here; expressions use problem sizes",
                None if arg.computed.is_some() => {
                    "it is computed itself: write its own expression in its place"
                }
                None if arg.value.is_some() => {
                    "it has a fixed `#[value(..)]`; only problem sizes have a value at every launch"
                }
                None => "only integers are problem sizes",
            };
            self.report(span, format!("`{name}` is not a problem size"), help);
            return;
        }
        let dims = kernel.function.dimensions().map(|(dim, _)| dim.to_string());
        let params = kernel.spec.params.iter();
        let choices = params.clone().flat_map(|param| &param.values);
        let choices = choices.filter(|v| matches!(v, ParamValue::Choice(_)));
        let names = params.map(|param| param.name.to_string()).chain(dims);
        let known: Vec<String> = names.chain(choices.map(ToString::to_string)).collect();
        let help = match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if ElemType::from_name(name).is_some() => {
                "an element type is a name only if `types(..)` lists it".into()
            }
            None if known.is_empty() => "the kernel has no parameters or sizes".into(),
            None => format!("known names: {}", known.join(", ")),
        };
        self.report(span, format!("unknown name `{name}`"), &help);
    }
}

/// The kind of a parameter's values.
fn param_kind(param: &NamedValues<ParamValue>) -> FoundName {
    let choices = param.values.iter().filter_map(|v| match &v.value {
        ParamValue::Choice(choice) => Some(choice.clone()),
        _ => None,
    });
    match param.values.first().map(|v| &v.value) {
        Some(ParamValue::Bool(_)) => FoundName::Bool,
        Some(ParamValue::Choice(_)) => FoundName::Name(choices.collect()),
        _ => FoundName::Int,
    }
}
