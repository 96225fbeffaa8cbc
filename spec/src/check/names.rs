//! Checks that each name of a spec has one meaning, and that none is reserved.

use std::collections::BTreeMap;

use super::reserved;
use crate::config::ParamValue;
use crate::parse::declaration::{ArgDecl, ArgKind, Name, NamedValues, ReferenceDecl, Spanned};
use crate::parse::{KernelAttr, KernelFn};
use crate::source::EntryPath;
use crate::text::diagnostic::{Diagnostic, Diagnostics, SpanRange};

pub(super) struct DeclaredNames<'a> {
    pub(super) attr: &'a KernelAttr,
    pub(super) function: &'a KernelFn,
    pub(super) diagnostics: Diagnostics,
}

impl DeclaredNames<'_> {
    fn report(&mut self, span: impl Into<SpanRange>, message: impl Into<String>, help: &str) {
        self.diagnostics
            .push(Diagnostic::new(span, message).help(help));
    }

    pub(super) fn check(&mut self) {
        self.distinct();
        self.choices();
        self.entries();
        let attr = self.attr;
        for param in &attr.params {
            self.macro_name(&param.name, "tunable parameter");
            self.values(param);
            self.one_kind(param);
        }
        for ty in &attr.types {
            self.macro_name(&ty.name, "type parameter");
            self.values(ty);
            self.is_used(&ty.name);
        }
        for arg in &self.function.args {
            if arg.ident == "device" {
                let help = "choose another: expressions use `device` for limits of the device";
                self.report(arg.ident.span(), "`device` is a reserved name", help);
            }
        }
    }

    /// Checks that parameters, type parameters and arguments have different names, because expressions use all three.
    /// (Parameters and type parameters are also macros of the source.)
    fn distinct(&mut self) {
        let attr = self.attr;
        let params = attr.params.iter().map(|p| (&p.name, "tunable parameter"));
        let types = attr.types.iter().map(|t| (&t.name, "type parameter"));
        let args = self.function.args.iter().map(|arg| {
            let name = Spanned {
                value: arg.name().into(),
                span: arg.ident.span().into(),
            };
            let what = match arg.kind {
                ArgKind::Scalar(_) if arg.is_dimension() => "dimension",
                _ => "argument",
            };
            (name, what)
        });
        let declared = types.chain(params).map(|(name, what)| (name.clone(), what));
        let all: Vec<(Name, &str)> = declared.chain(args).collect();
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, what) in &all {
            let Some(first) = seen.insert(&name.value, what) else {
                continue;
            };
            let (message, help) = if first == *what {
                (
                    format!("the {what} `{}` is declared twice", name.value),
                    "rename or remove one",
                )
            } else {
                (
                    format!("the {what} `{}` has the name of a {first}", name.value),
                    "rename one: the source and the expressions could not tell them apart",
                )
            };
            self.report(name.span, message, help);
        }
    }

    /// Checks that choices do not clash with other names. Expressions use the choice `c` of a parameter `P` as the name
    /// `c`, and the source uses it as the macro `P_c`.
    fn choices(&mut self) {
        let (attr, function) = (self.attr, self.function);
        let mut taken: BTreeMap<String, &str> = BTreeMap::new();
        for param in &attr.params {
            taken.insert(param.name.value.to_string(), "tunable parameter");
        }
        for ty in &attr.types {
            taken.insert(ty.name.value.to_string(), "type parameter");
        }
        let mut macros = taken.clone();
        for arg in &function.args {
            taken.insert(arg.name(), "argument");
        }
        for param in &attr.params {
            for value in &param.values {
                let ParamValue::Choice(choice) = &value.value else {
                    continue;
                };
                let defined = format!("{}_{choice}", param.name.value);
                let clash = taken.get(&**choice).map(|what| (choice.to_string(), what));
                let clash = clash.or_else(|| Some((defined.clone(), macros.get(&defined)?)));
                if let Some((name, what)) = clash {
                    let message = format!("the choice `{choice}` clashes with the {what} `{name}`");
                    let help = format!("rename one: the source sees the choice as `{defined}`");
                    self.report(value.span, message, &help);
                } else {
                    macros.insert(defined, "choice");
                }
            }
        }
    }

    fn macro_name(&mut self, name: &Name, what: &str) {
        if let Some(why) = reserved::reason(&name.value) {
            let message = format!("`{}` cannot be a {what}: it is {why}", name.value);
            let help = "choose another name, by custom in capitals: the source sees it as a macro";
            self.report(name.span, message, help);
        }
    }

    fn values<T: PartialEq + ToString>(&mut self, axis: &NamedValues<T>) {
        let name = &axis.name.value;
        if axis.values.is_empty() {
            let help = "give it at least one value";
            self.report(axis.name.span, format!("`{name}` has no values"), help);
        }
        for (i, value) in axis.values.iter().enumerate() {
            if axis.values[..i].iter().any(|v| v.value == value.value) {
                let message = format!("`{name}` has the value {} twice", value.value.to_string());
                self.report(value.span, message, "remove one");
            }
        }
    }

    fn one_kind(&mut self, param: &NamedValues<ParamValue>) {
        let Some(first) = param.values.first() else {
            return;
        };
        let kind = std::mem::discriminant(&first.value);
        let mut values = param.values.iter();
        if let Some(other) = values.find(|v| std::mem::discriminant(&v.value) != kind) {
            let message = format!("`{}` has values of different kinds", param.name.value);
            self.diagnostics.push(
                Diagnostic::new(other.span, message)
                    .label(format!("the first one is {}", first.value.value().kind()))
                    .help("make all of them integers, truth values or names"),
            );
        }
    }

    fn is_used(&mut self, ty: &Name) {
        let used = |arg: &ArgDecl| match &arg.kind {
            ArgKind::Slice { elem, .. } | ArgKind::Typed(elem) => elem.name() == &*ty.value,
            ArgKind::Scalar(_) | ArgKind::Plain => false,
        };
        if !self.function.args.iter().any(used) {
            let message = format!("no argument has the type `{}`", ty.value);
            let help = format!("write `&[{}]` in an argument, or remove it", ty.value);
            self.report(ty.span, message, &help);
        }
    }

    /// Checks the names of the `__global__` functions.
    fn entries(&mut self) {
        let attr = self.attr;
        let baseline = attr.baseline.as_ref().and_then(|b| b.entry.as_ref());
        let reference = match &attr.reference {
            Some(ReferenceDecl::Entry(entry)) => Some(entry),
            _ => None,
        };
        for entry in [attr.entry.as_ref(), baseline, reference]
            .into_iter()
            .flatten()
        {
            if EntryPath::parse(&entry.value).is_none() {
                let message = format!(
                    "`{}` is not a name of a function",
                    entry.value.escape_debug()
                );
                self.report(
                    entry.span,
                    message,
                    "name a `__global__` function of the source",
                );
            }
        }
        let tuned = attr.entry.as_ref().map(|e| e.value.clone());
        let tuned = tuned.unwrap_or_else(|| self.function.ident.to_string());
        if let Some(entry) = reference.filter(|e| e.value == tuned) {
            let span: SpanRange = entry.span;
            let help =
                "name a simpler `__global__` function, or a Rust function with `reference = path`";
            self.report(span, "the kernel is its own reference", help);
        }
    }
}
