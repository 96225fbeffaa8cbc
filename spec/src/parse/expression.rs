//! Converts Rust expressions to [`Expr`], and keeps the span of every subexpression.

use std::fmt;

use proc_macro2::Span;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};

use crate::device::limits::DeviceLimit;
use crate::expr::{BinaryOp, BuiltinFunction, Expr, UnaryOp};
use crate::text::diagnostic::SpanRange;
use crate::text::spelling::nearest;

/// An expression with the positions of its subexpressions.
#[derive(Clone)]
pub struct SpannedExpr {
    /// The expression.
    pub expr: Expr,
    /// The span of every subexpression, in the order in which [`Expr::walk`] visits them.
    spans: Vec<SpanRange>,
}

impl SpannedExpr {
    /// The span of the whole expression.
    pub fn span(&self) -> SpanRange {
        self.spans[0]
    }

    /// The span of every subexpression, in the order in which [`Expr::walk`] visits them.
    pub fn spans(&self) -> &[SpanRange] {
        &self.spans
    }

    /// Calls `visit` on the expression and on every expression inside it, each with its span.
    pub fn walk(&self, mut visit: impl FnMut(&Expr, SpanRange)) {
        let mut spans = self.spans.iter();
        self.expr.walk(&mut |expr| {
            let span = spans.next().copied();
            visit(expr, span.unwrap_or(self.span()));
        });
    }

    /// The position where a name first occurs, or that of the whole expression if the name does not occur.
    pub fn span_of_name(&self, name: &str) -> SpanRange {
        let mut found = None;
        self.walk(|expr, span| {
            if found.is_none() && matches!(expr, Expr::Name(n) if n == name) {
                found = Some(span);
            }
        });
        found.unwrap_or(self.span())
    }
}

impl fmt::Debug for SpannedExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.expr, f)
    }
}

impl Parse for SpannedExpr {
    fn parse(input: ParseStream) -> syn::Result<SpannedExpr> {
        let syntax: syn::Expr = input.parse()?;
        let mut spans = Vec::new();
        let expr = convert(&syntax, 1, &mut spans)?;
        Ok(SpannedExpr { expr, spans })
    }
}

impl Expr {
    /// Parses an expression as written in a spec.
    ///
    /// # Errors
    /// If the text is not an expression of the language.
    pub fn parse(text: &str) -> syn::Result<Expr> {
        syn::parse_str::<SpannedExpr>(text).map(|spanned| spanned.expr)
    }
}

const LANGUAGE: &str = "expressions have integers, `true` and `false`, names, `device.<limit>`, \
     `+ - * / % << >>`, comparisons, `&& || !`, min, max, div_ceil, next_power_of_two and size_of";

/// An error at these tokens, with a `help:` line.
pub(super) fn error(tokens: impl ToTokens, message: impl fmt::Display, help: &str) -> syn::Error {
    syn::Error::new_spanned(tokens, format!("{message}\nhelp: {help}"))
}

/// Like [`error`], but at one span.
pub(super) fn error_at(span: Span, message: impl fmt::Display, help: &str) -> syn::Error {
    syn::Error::new(span, format!("{message}\nhelp: {help}"))
}

fn convert(syntax: &syn::Expr, depth: usize, spans: &mut Vec<SpanRange>) -> syn::Result<Expr> {
    match syntax {
        syn::Expr::Paren(inner) => return convert(&inner.expr, depth, spans),
        syn::Expr::Group(inner) => return convert(&inner.expr, depth, spans),
        _ => {}
    }
    if depth > Expr::MAX_DEPTH {
        return Err(error(
            syntax,
            format!("expression nests deeper than {} levels", Expr::MAX_DEPTH),
            "shorten it, or split a constraint into several",
        ));
    }
    spans.push(SpanRange::of(syntax));
    convert_node(syntax, depth, spans)
}

fn convert_node(syntax: &syn::Expr, depth: usize, spans: &mut Vec<SpanRange>) -> syn::Result<Expr> {
    match syntax {
        syn::Expr::Lit(literal) => literal_value(literal),
        syn::Expr::Path(path) => name(path),
        syn::Expr::Field(field) => device_limit(field),
        syn::Expr::Unary(unary) => convert_unary(unary, depth, spans),
        syn::Expr::Binary(binary) => {
            let op = operator(&binary.op)?;
            let left = convert(&binary.left, depth + 1, spans)?;
            let right = convert(&binary.right, depth + 1, spans)?;
            Ok(Expr::Binary(op, Box::new(left), Box::new(right)))
        }
        syn::Expr::Call(call) => {
            let syn::Expr::Path(callee) = &*call.func else {
                return Err(error(&call.func, "this is not a function", LANGUAGE));
            };
            let function = function(plain_ident(callee)?)?;
            convert_call(call, function, call.args.iter(), depth, spans)
        }
        syn::Expr::MethodCall(call) => {
            if let Some(types) = &call.turbofish {
                return Err(error(types, "functions take no types", LANGUAGE));
            }
            let function = function(&call.method)?;
            let arguments = std::iter::once(&*call.receiver).chain(&call.args);
            convert_call(call, function, arguments, depth, spans)
        }
        syn::Expr::Cast(cast) => Err(error(
            cast,
            "expressions have no casts",
            "remove it: integers are exact in 128 bits",
        )),
        other => Err(error(other, "not an expression of a spec", LANGUAGE)),
    }
}

fn convert_call<'a>(
    call: &impl ToTokens,
    function: BuiltinFunction,
    arguments: impl Iterator<Item = &'a syn::Expr>,
    depth: usize,
    spans: &mut Vec<SpanRange>,
) -> syn::Result<Expr> {
    let arguments = arguments
        .map(|argument| convert(argument, depth + 1, spans))
        .collect::<syn::Result<Vec<_>>>()?;
    if !function.accepts(arguments.len()) {
        let wanted = match function {
            BuiltinFunction::Min | BuiltinFunction::Max => "two or more arguments",
            BuiltinFunction::DivCeil => "two arguments",
            BuiltinFunction::NextPowerOfTwo | BuiltinFunction::SizeOf => "one argument",
        };
        return Err(error(
            call,
            format!(
                "`{}` takes {wanted}, found {}",
                function.name(),
                arguments.len()
            ),
            "a receiver counts as the first: `n.div_ceil(B)` is `div_ceil(n, B)`",
        ));
    }
    Ok(Expr::Call(function, arguments))
}

fn literal_value(literal: &syn::ExprLit) -> syn::Result<Expr> {
    match &literal.lit {
        syn::Lit::Int(int) => Ok(Expr::Int(integer(int, false)?)),
        syn::Lit::Bool(bool) => Ok(Expr::Bool(bool.value)),
        syn::Lit::Float(float) => Err(error(
            float,
            "expressions have no fractions",
            "write a quotient of integers; `/` rounds towards zero",
        )),
        other => Err(error(other, "not a value of the language", LANGUAGE)),
    }
}

/// The value of an integer literal, or its negation if `negative` is set.
pub(super) fn integer(literal: &syn::LitInt, negative: bool) -> syn::Result<i64> {
    if !literal.suffix().is_empty() {
        return Err(error(
            literal,
            format!("integer with the suffix `{}`", literal.suffix()),
            "remove the suffix: integers of a spec have no type",
        ));
    }
    let sign = if negative { "-" } else { "" };
    format!("{sign}{}", literal.base10_digits())
        .parse()
        .map_err(|_| {
            error(
                literal,
                "integer literal does not fit 64 bits",
                "the largest is 9223372036854775807",
            )
        })
}

/// Converts a prefix operator. `-5` is a literal, but `-(5)` and `-x` are negations.
fn convert_unary(
    unary: &syn::ExprUnary,
    depth: usize,
    spans: &mut Vec<SpanRange>,
) -> syn::Result<Expr> {
    let op = match unary.op {
        syn::UnOp::Neg(_) => UnaryOp::Neg,
        syn::UnOp::Not(_) => UnaryOp::Not,
        _ => return Err(error(unary, "not an operator of the language", LANGUAGE)),
    };
    if let (UnaryOp::Neg, syn::Expr::Lit(literal)) = (op, &*unary.expr)
        && let syn::Lit::Int(int) = &literal.lit
    {
        return Ok(Expr::Int(integer(int, true)?));
    }
    let inner = convert(&unary.expr, depth + 1, spans)?;
    Ok(Expr::Unary(op, Box::new(inner)))
}

fn operator(op: &syn::BinOp) -> syn::Result<BinaryOp> {
    Ok(match op {
        syn::BinOp::Add(_) => BinaryOp::Add,
        syn::BinOp::Sub(_) => BinaryOp::Sub,
        syn::BinOp::Mul(_) => BinaryOp::Mul,
        syn::BinOp::Div(_) => BinaryOp::Div,
        syn::BinOp::Rem(_) => BinaryOp::Rem,
        syn::BinOp::Shl(_) => BinaryOp::Shl,
        syn::BinOp::Shr(_) => BinaryOp::Shr,
        syn::BinOp::Eq(_) => BinaryOp::Eq,
        syn::BinOp::Ne(_) => BinaryOp::Ne,
        syn::BinOp::Lt(_) => BinaryOp::Lt,
        syn::BinOp::Le(_) => BinaryOp::Le,
        syn::BinOp::Gt(_) => BinaryOp::Gt,
        syn::BinOp::Ge(_) => BinaryOp::Ge,
        syn::BinOp::And(_) => BinaryOp::And,
        syn::BinOp::Or(_) => BinaryOp::Or,
        other => return Err(error(other, "not an operator of the language", LANGUAGE)),
    })
}

/// The identifier of a path that has only one segment. Longer paths are an error.
fn plain_ident(path: &syn::ExprPath) -> syn::Result<&syn::Ident> {
    path.path
        .get_ident()
        .ok_or_else(|| error(path, "names of a spec have no path", LANGUAGE))
}

fn name(path: &syn::ExprPath) -> syn::Result<Expr> {
    let ident = plain_ident(path)?;
    if ident == "device" {
        return Err(error(
            ident,
            "`device` has no value itself",
            &format!("name one of its limits: {}", limit_names()),
        ));
    }
    Ok(Expr::Name(ident.to_string()))
}

fn function(ident: &syn::Ident) -> syn::Result<BuiltinFunction> {
    let name = ident.to_string();
    BuiltinFunction::from_name(&name).ok_or_else(|| {
        let help = match nearest(&name, BuiltinFunction::ALL.map(BuiltinFunction::name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => LANGUAGE.to_string(),
        };
        error_at(ident.span(), format!("unknown function `{name}`"), &help)
    })
}

fn device_limit(field: &syn::ExprField) -> syn::Result<Expr> {
    let is_device = matches!(&*field.base, syn::Expr::Path(base) if base.path.is_ident("device"));
    let syn::Member::Named(member) = &field.member else {
        return Err(error(field, "not an expression of a spec", LANGUAGE));
    };
    if !is_device {
        return Err(error(
            &field.base,
            "only `device` has fields",
            &format!("limits of the device are: {}", limit_names()),
        ));
    }
    let name = member.to_string();
    DeviceLimit::from_name(&name)
        .map(Expr::Device)
        .ok_or_else(|| {
            let known = DeviceLimit::ALL.iter().map(|limit| limit.name());
            let help = match nearest(&name, known) {
                Some(near) => format!("did you mean `device.{near}`?"),
                None => format!("limits of the device are: {}", limit_names()),
            };
            error_at(
                member.span(),
                format!("unknown device limit `device.{name}`"),
                &help,
            )
        })
}

fn limit_names() -> String {
    let names: Vec<_> = DeviceLimit::ALL.iter().map(|limit| limit.name()).collect();
    names.join(", ")
}
