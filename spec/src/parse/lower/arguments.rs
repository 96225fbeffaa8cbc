//! Converts arguments to their form in the spec. Adds defaults, and reports attributes that the argument must not have.

use super::Lower;
use crate::expr::Expr;
use crate::model::{
    Access, ArgSpec, Comparison, ElemRef, ElemType, Fill, Passing, Plain, PlainArg, ScalarArg,
    ScalarType, ScalarValue, SliceArg, TypedArg,
};
use crate::parse::declaration::{ArgDecl, ArgKind, Spanned};
use crate::text::diagnostic::SpanRange;

impl Lower<'_> {
    pub(super) fn arguments(&mut self) -> Vec<ArgSpec> {
        let args: Vec<ArgSpec> = (self.function.args.iter())
            .map(|arg| match &arg.kind {
                ArgKind::Scalar(ty) => ArgSpec::Scalar(self.scalar(arg, *ty)),
                ArgKind::Slice { elem, .. } => ArgSpec::Slice(self.slice(arg, elem)),
                ArgKind::Plain => ArgSpec::Plain(self.plain(arg)),
                ArgKind::Typed(ty) => ArgSpec::Typed(self.typed(arg, ty)),
            })
            .collect();
        let writes = |arg: &ArgDecl| arg.access().is_some_and(Access::is_output);
        if !self.function.args.iter().any(writes) {
            let message = format!("kernel `{}` has no output", self.function.ident);
            let help = "a tuned kernel writes to at least one `&mut [T]`";
            self.report(self.name_span(), message, help);
        }
        self.something_is_compared();
        self.constants_come_last();
        args
    }

    /// Checks that arguments that fill `__constant__` variables come last, because a launch passes their data after all
    /// parameters.
    fn constants_come_last(&mut self) {
        let passed = || self.function.args.iter().filter(|arg| !arg.launch_only);
        let fills = |arg: &&ArgDecl| arg.elem().is_some() && arg.constant.is_some();
        let mut behind = passed().skip_while(|arg| !fills(arg));
        let Some(late) = behind.find(|arg| !fills(arg)) else {
            return;
        };
        let (name, span) = (late.name(), late.ident.span());
        let message = format!("the parameter `{name}` comes after a `#[constant]` argument");
        let help = "move it before them: arguments that fill `__constant__` variables come last";
        self.report(span, message, help);
    }

    /// Checks that at least one output is compared. Otherwise a kernel would pass whatever it computes.
    fn something_is_compared(&mut self) {
        let mut outputs = (self.function.args.iter())
            .filter(|arg| arg.access().is_some_and(Access::is_output))
            .peekable();
        let Some(first) = outputs.peek() else { return };
        let ident = &first.ident;
        let uncompared = |arg: &ArgDecl| {
            let compare = arg.compare.as_ref();
            compare.is_some_and(|compare| compare.value == Comparison::None)
        };
        if outputs.all(uncompared) {
            let help = "compare at least one output: without `#[compare]`, each of its elements is compared; with \
                        `#[compare(sum)]`, `max` or `min`, only their sum, maximum or minimum";
            self.report(ident.span(), "no output is compared", help);
        }
    }

    /// Reports the attributes of slices on an argument that is not a slice.
    fn not_a_slice(&mut self, arg: &ArgDecl, what: &str) {
        let misplaced = [
            ("len", arg.len.as_ref().map(|e| e.span())),
            ("fill", arg.fill.as_ref().map(|f| f.span)),
            ("align", arg.align.as_ref().map(|e| e.span())),
            ("tolerance", arg.tolerance.as_ref().map(|t| t.span)),
            ("inout", arg.inout),
            ("compare", arg.compare.as_ref().map(|c| c.span)),
            ("constant", arg.constant.as_ref().map(|c| c.span)),
        ];
        for (name, span) in misplaced {
            if let Some(span) = span {
                let message = format!("`#[{name}]` on {what}");
                self.report(span, message, "it describes slices; remove it");
            }
        }
    }

    fn scalar(&mut self, arg: &ArgDecl, ty: ScalarType) -> ScalarArg {
        self.not_a_slice(arg, &format!("the scalar `{}`", arg.ident));
        ScalarArg {
            name: arg.name(),
            ty,
            value: self.scalar_value(arg, ty),
            passing: self.passing(arg, ty),
        }
    }

    fn plain(&mut self, arg: &ArgDecl) -> PlainArg {
        self.not_a_slice(arg, &format!("`{}`, which is passed by value", arg.ident));
        self.not_computed(arg);
        let dims: Vec<String> = (self.function.dimensions())
            .map(|(ident, _)| ident.to_string())
            .collect();
        for size in arg.plain.iter().flat_map(|plain| &plain.sizes) {
            let mut unknown = None;
            size.walk(|expr, span| match expr {
                Expr::Name(name) if !dims.iter().any(|dim| **dim == **name) => {
                    unknown = unknown.take().or(Some((name.to_string(), span)));
                }
                _ => {}
            });
            if let Some((name, span)) = unknown {
                let message = format!("`{name}` is not a problem size");
                self.report(
                    span,
                    message,
                    "fields are numbers, or expressions of problem sizes",
                );
            }
        }
        let value = arg.plain.as_ref().map(|plain| plain.value.clone());
        PlainArg {
            name: arg.name(),
            value: value.unwrap_or(Plain::Array(Vec::new())),
        }
    }

    /// Reports `#[computed(..)]` on an argument that is not one of the integer scalars.
    fn not_computed(&mut self, arg: &ArgDecl) {
        if let Some(computed) = &arg.computed {
            let message = format!(
                "`#[computed]` on `{}`, which is not of an integer type",
                arg.ident
            );
            let help = "callers give it: write `#[value(..)]` with the value to tune with";
            self.report(computed.span(), message, help);
        }
    }

    /// A number whose type is a 16-bit float or a type parameter.
    fn typed(&mut self, arg: &ArgDecl, ty: &ElemRef) -> TypedArg {
        self.not_a_slice(arg, &format!("the scalar `{}`", arg.ident));
        self.not_computed(arg);
        let choices = self.elem_choices(ty);
        match &arg.value {
            None if arg.computed.is_none() => {
                let message = format!("`{}` has no value to tune with", arg.ident);
                let help = "add `#[value(1.0)]`: a number of this type cannot be a problem size";
                self.report(arg.ident.span(), message, help);
            }
            None => {}
            Some(value) => {
                if let Some(other) = choices.iter().find(|ty| !ty.holds(value.value)) {
                    let number = match value.value {
                        ScalarValue::Int(x) => x.to_string(),
                        ScalarValue::Float(x) => format!("{x:?}"),
                    };
                    let message = match ty {
                        ElemRef::Fixed(_) => {
                            format!("{number} does not fit `{}`, which is {other}", arg.ident)
                        }
                        ElemRef::Param(_) => format!(
                            "{number} does not fit `{}`, which may be {other}",
                            arg.ident
                        ),
                    };
                    let help = "give a value that every type of the argument can have";
                    self.report(value.span, message, help);
                }
            }
        }
        let value = arg.value.as_ref().map(|value| value.value);
        TypedArg {
            name: arg.name(),
            ty: ty.clone(),
            value: value.unwrap_or(ScalarValue::Int(0)),
        }
    }

    fn passing(&mut self, arg: &ArgDecl, ty: ScalarType) -> Passing {
        if arg.launch_only {
            return Passing::Launch;
        }
        let Some(computed) = &arg.computed else {
            return Passing::Given;
        };
        if let Some(value) = &arg.value {
            let message = format!("`#[value]` on the computed argument `{}`", arg.ident);
            let help = "its value is that of `#[computed(..)]`; remove one of the two";
            self.report(value.span, message, help);
        } else if !ty.is_integer() {
            let message = format!("`{}` is {ty}, but expressions are integers", arg.ident);
            let help = "compute integers alone; callers give real numbers: `#[value(1.0)]`";
            self.report(computed.span(), message, help);
        }
        Passing::Computed(computed.expr.clone())
    }

    fn scalar_value(&mut self, arg: &ArgDecl, ty: ScalarType) -> Option<ScalarValue> {
        let Some(value) = &arg.value else {
            if !ty.is_integer() && arg.computed.is_none() {
                let message = format!("`{}` has no value to tune with", arg.ident);
                let help = "add `#[value(1.0)]`: only integers can be problem sizes";
                self.report(arg.ident.span(), message, help);
            }
            return None;
        };
        match (ty, value.value) {
            (ScalarType::F32 | ScalarType::F64, ScalarValue::Int(x)) => {
                Some(ScalarValue::Float(x as f64))
            }
            (ScalarType::F64, ScalarValue::Float(x)) => Some(ScalarValue::Float(x)),
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
                let message = format!("{x:?} is not a value of `{}`, which is {ty}", arg.ident);
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
        if let Some(computed) = &arg.computed {
            let message = format!("`#[computed]` on the slice `{}`", arg.ident);
            self.report(computed.span(), message, "only scalars are computed");
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
        if let (Access::In, Some(compare)) = (access, &arg.compare) {
            let message = format!("`#[compare]` on the input `{}`", arg.ident);
            self.report(compare.span, message, "inputs are not compared; remove it");
        }
        self.constant_slice(arg, access);
        SliceArg {
            name: arg.name(),
            elem: elem.clone(),
            access,
            len: self.slice_length(arg),
            fill: self.fill(arg, elem),
            align: arg.align.as_ref().map(|align| align.expr.clone()),
            tolerance: self.output_tolerance(arg, elem),
            compare: arg.compare.as_ref().map(|c| c.value),
            constant: arg.constant.as_ref().map(|c| c.value.clone()),
        }
    }

    /// Checks an argument that fills a `__constant__` variable. The kernel must only read the data, and the length must
    /// not depend on a size, because it must be known when the kernel is compiled.
    fn constant_slice(&mut self, arg: &ArgDecl, access: Access) {
        let Some(constant) = &arg.constant else {
            return;
        };
        if access.is_output() {
            let message = format!("`#[constant]` on `{}`, which is written", arg.ident);
            let help = "kernels only read `__constant__` variables; make it `&[T]`";
            self.report(constant.span, message, help);
        }
        let sizes: Vec<String> = (self.function.dimensions())
            .map(|(ident, _)| ident.to_string())
            .collect();
        let len = arg.len.as_ref();
        let size = len.and_then(|len| {
            let names = len.expr.names();
            sizes.iter().find(|size| names.contains(size.as_str()))
        });
        if let (Some(len), Some(size)) = (len, size) {
            let message = format!("the length of `{}` depends on the size `{size}`", arg.ident);
            let help = "a `__constant__` variable has a fixed size: give the number of elements that it is declared with";
            self.report(len.span(), message, help);
        }
    }

    fn slice_length(&mut self, arg: &ArgDecl) -> Expr {
        match &arg.len {
            Some(len) => len.expr.clone(),
            None => {
                let message = format!("`{}` has no length", arg.ident);
                let help = self.length_help();
                self.report(arg.ident.span(), message, &help);
                Expr::Int(1)
            }
        }
    }

    /// The help text about lengths, which names the sizes of this kernel.
    fn length_help(&self) -> String {
        let sizes: Vec<String> = (self.function.args.iter())
            .filter(|arg| arg.value.is_none())
            .filter(|arg| matches!(&arg.kind, ArgKind::Scalar(ty) if ty.is_integer()))
            .map(|arg| arg.ident.to_string())
            .collect();
        if sizes.is_empty() {
            return "add `#[len(n)]`, its elements, and an argument `n: u32` for the size".into();
        }
        let example = sizes.iter().take(2).cloned().collect::<Vec<_>>();
        format!(
            "add `#[len({})]`: its elements, over the sizes of this kernel ({})",
            example.join(" * "),
            sizes.join(", ")
        )
    }

    fn fill(&mut self, arg: &ArgDecl, elem: &ElemRef) -> Fill {
        let Some(Spanned { value, span }) = &arg.fill else {
            return Fill::ByType;
        };
        let choices = self.elem_choices(elem);
        self.check_fill(*span, value, &choices);
        value.clone()
    }

    fn check_fill(&mut self, span: SpanRange, fill: &Fill, choices: &[ElemType]) {
        let (low, high) = match fill {
            Fill::Uniform { low, high } => (*low, *high),
            Fill::Constant(x) => (*x, *x),
            Fill::Below(_) | Fill::Iota | Fill::ByType => return,
        };
        for ty in choices {
            let Some((min, max)) = ty.integer_range() else {
                continue;
            };
            let whole = high.fract() == 0.0 && low.fract() == 0.0;
            // The upper bound of `uniform` is exclusive.
            let reached = high as i128 - i128::from(low < high);
            if !whole || (low as i128) < min || reached > max {
                let message = format!("fill from {low} to {high} does not suit {ty} elements");
                let help = format!("give whole numbers from {min} to {max}, or `below(n)`");
                self.report(span, message, &help);
            }
        }
    }
}
