//! Parses literals and other small pieces that occur both in the attribute and in the attributes of arguments.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Token, bracketed, parenthesized};

use super::declaration::{ConfigDecl, DimValue, Name, NamedValues, ProblemDecl, SizeDecl, Spanned};
use super::expression::{error, error_at, integer};
use crate::config::ParamValue;
use crate::model::{ElemType, ScalarType, Tolerance};
use crate::text::diagnostic::SpanRange;
use crate::text::spelling::nearest;

/// Maximum number of values of a tunable parameter. The limit ensures that a range cannot fill the memory.
const MAX_VALUES: usize = 4096;

impl Parse for Name {
    fn parse(input: ParseStream) -> syn::Result<Name> {
        let ident: Ident = input.parse()?;
        let text = ident.to_string();
        if text.starts_with("r#") || !text.is_ascii() {
            return Err(error_at(
                ident.span(),
                format!("`{text}` is not a name that a kernel's source can use"),
                "use ASCII letters, digits and `_`, and no Rust keyword",
            ));
        }
        Ok(Spanned {
            value: text.into(),
            span: ident.span().into(),
        })
    }
}

/// Parses the list `a, b, c` up to the end of the input.
pub(super) fn list<T: Parse>(input: ParseStream) -> syn::Result<Vec<T>> {
    let items = Punctuated::<T, Token![,]>::parse_terminated(input)?;
    Ok(items.into_iter().collect())
}

/// The pair `name = value`.
pub(super) struct Assign<T> {
    pub(super) name: Name,
    pub(super) value: T,
}

impl<T: Parse> Parse for Assign<T> {
    fn parse(input: ParseStream) -> syn::Result<Assign<T>> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let value = input.parse()?;
        Ok(Assign { name, value })
    }
}

impl Parse for Spanned<i64> {
    fn parse(input: ParseStream) -> syn::Result<Spanned<i64>> {
        let minus: Option<Token![-]> = input.parse()?;
        let literal: syn::LitInt = input.parse()?;
        let span = SpanRange::from(literal.span());
        Ok(Spanned {
            value: integer(&literal, minus.is_some())?,
            span: minus.map_or(span, |minus| SpanRange::of(&minus).to(span)),
        })
    }
}

/// Parses a finite real number, with or without a fraction.
impl Parse for Spanned<f64> {
    fn parse(input: ParseStream) -> syn::Result<Spanned<f64>> {
        let minus: Option<Token![-]> = input.parse()?;
        let literal: syn::Lit = input.parse()?;
        let (digits, suffix) = match &literal {
            syn::Lit::Int(int) => (int.base10_digits(), int.suffix()),
            syn::Lit::Float(float) => (float.base10_digits(), float.suffix()),
            _ => return Err(syn::Error::new_spanned(literal, "expected a number")),
        };
        let value: f64 = digits.parse().unwrap_or(f64::INFINITY);
        if !suffix.is_empty() || !value.is_finite() {
            return Err(error(
                &literal,
                "not a plain finite number",
                "write it without a type suffix, at most 1.7e308",
            ));
        }
        let span = SpanRange::of(&literal);
        Ok(Spanned {
            value: if minus.is_some() { -value } else { value },
            span: minus.map_or(span, |minus| SpanRange::of(&minus).to(span)),
        })
    }
}

impl Parse for Spanned<String> {
    fn parse(input: ParseStream) -> syn::Result<Spanned<String>> {
        let literal: syn::LitStr = input.parse()?;
        Ok(Spanned {
            value: literal.value(),
            span: literal.span().into(),
        })
    }
}

impl Parse for Spanned<ParamValue> {
    fn parse(input: ParseStream) -> syn::Result<Spanned<ParamValue>> {
        if input.peek(syn::LitBool) {
            let literal: syn::LitBool = input.parse()?;
            return Ok(Spanned {
                value: ParamValue::Bool(literal.value),
                span: literal.span().into(),
            });
        }
        if input.peek(Ident) {
            let name: Name = input.parse()?;
            return Ok(Spanned {
                value: ParamValue::Choice(name.value),
                span: name.span,
            });
        }
        if !input.peek(syn::LitInt) && !input.peek(Token![-]) {
            return Err(input.error("expected an integer, `true`, `false` or a name"));
        }
        let int: Spanned<i64> = input.parse()?;
        Ok(Spanned {
            value: ParamValue::Int(int.value),
            span: int.span,
        })
    }
}

impl Parse for Spanned<ElemType> {
    fn parse(input: ParseStream) -> syn::Result<Spanned<ElemType>> {
        let ident: Ident = input.parse()?;
        Ok(Spanned {
            value: elem_type(&ident)?,
            span: ident.span().into(),
        })
    }
}

/// The element type with this name.
fn elem_type(ident: &Ident) -> syn::Result<ElemType> {
    let name = ident.to_string();
    ElemType::from_name(&name).ok_or_else(|| {
        let known = || ElemType::ALL.iter().map(|ty| ty.name());
        let help = match nearest(&name, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known types: {}", known().collect::<Vec<_>>().join(", ")),
        };
        error_at(
            ident.span(),
            format!("unknown element type `{name}`"),
            &help,
        )
    })
}

impl Parse for NamedValues<ElemType> {
    fn parse(input: ParseStream) -> syn::Result<NamedValues<ElemType>> {
        let name = input.parse()?;
        input.parse::<Token![in]>()?;
        let content;
        bracketed!(content in input);
        Ok(NamedValues {
            name,
            values: list(&content)?,
        })
    }
}

/// Parses `NAME in [1, 2, 4]`, `NAME in 1..=8` or `NAME in pow2(16..=256)`.
impl Parse for NamedValues<ParamValue> {
    fn parse(input: ParseStream) -> syn::Result<NamedValues<ParamValue>> {
        let name = input.parse()?;
        input.parse::<Token![in]>()?;
        let values = if input.peek(syn::token::Bracket) {
            let content;
            bracketed!(content in input);
            list(&content)?
        } else if input.peek(Ident) {
            let ident: Ident = input.parse()?;
            if ident != "pow2" {
                let help = "write `[..]` with all values, `1..=8`, or `pow2(16..=256)`";
                return Err(error_at(ident.span(), "expected values", help));
            }
            let content;
            parenthesized!(content in input);
            let range: Range = content.parse()?;
            range.powers_of_two()?
        } else {
            input.parse::<Range>()?.all()?
        };
        if values.len() > MAX_VALUES {
            return Err(too_many(values[0].span));
        }
        Ok(NamedValues { name, values })
    }
}

/// The range `low..high` or `low..=high`. `last` is the last value that it contains.
struct Range {
    low: i64,
    last: i64,
    span: SpanRange,
}

impl Parse for Range {
    fn parse(input: ParseStream) -> syn::Result<Range> {
        let low: Spanned<i64> = input.parse()?;
        let limits: syn::RangeLimits = input.parse()?;
        let high: Spanned<i64> = input.parse()?;
        let last = match limits {
            syn::RangeLimits::Closed(_) => high.value,
            syn::RangeLimits::HalfOpen(_) => high.value.saturating_sub(1),
        };
        let span = low.span.to(high.span);
        if last < low.value {
            return Err(range_error(
                span,
                "the range is empty",
                "the lower bound comes first",
            ));
        }
        Ok(Range {
            low: low.value,
            last,
            span,
        })
    }
}

impl Range {
    fn all(self) -> syn::Result<Vec<Spanned<ParamValue>>> {
        if i128::from(self.last) - i128::from(self.low) >= MAX_VALUES as i128 {
            return Err(too_many(self.span));
        }
        Ok(self.spanned(self.low..=self.last))
    }

    fn powers_of_two(self) -> syn::Result<Vec<Spanned<ParamValue>>> {
        let powers = (0..63).map(|bit| 1i64 << bit);
        let values = self.spanned(powers.filter(|x| (self.low..=self.last).contains(x)));
        if values.is_empty() {
            let help = "for example `pow2(16..=256)` is 16, 32, 64, 128, 256";
            return Err(range_error(
                self.span,
                "no power of two in this range",
                help,
            ));
        }
        Ok(values)
    }

    fn spanned(&self, values: impl Iterator<Item = i64>) -> Vec<Spanned<ParamValue>> {
        let span = self.span;
        values
            .map(|x| Spanned {
                value: ParamValue::Int(x),
                span,
            })
            .collect()
    }
}

fn range_error(span: SpanRange, message: &str, help: &str) -> syn::Error {
    crate::text::diagnostic::Diagnostic::new(span, message)
        .help(help)
        .to_syn_error()
}

fn too_many(span: SpanRange) -> syn::Error {
    range_error(
        span,
        &format!("more than {MAX_VALUES} values for one tunable parameter"),
        "list the values worth trying",
    )
}

/// Parses `name: u32`.
impl Parse for SizeDecl {
    fn parse(input: ParseStream) -> syn::Result<SizeDecl> {
        let ident = plain_name(&input.parse()?)?;
        input.parse::<Token![:]>()?;
        let name: Ident = input.parse()?;
        let integers = || ScalarType::ALL.iter().filter(|ty| ty.is_integer());
        let found = integers().find(|ty| name == ty.name());
        let Some(ty) = found else {
            let names: Vec<_> = integers().map(|ty| ty.name()).collect();
            let message = format!("`{ident}` cannot be of type `{name}`: a size is an integer");
            let help = format!("its type is one of {}", names.join(", "));
            return Err(error_at(name.span(), message, &help));
        };
        Ok(SizeDecl {
            ident,
            ty: *ty,
            ty_span: name.span().into(),
        })
    }
}

impl Parse for Spanned<DimValue> {
    fn parse(input: ParseStream) -> syn::Result<Spanned<DimValue>> {
        if input.peek(Ident) {
            let name: Name = input.parse()?;
            return Ok(Spanned {
                value: DimValue::Name(name.value),
                span: name.span,
            });
        }
        let int: Spanned<i64> = input.parse()?;
        Ok(Spanned {
            value: DimValue::Size(int.value),
            span: int.span,
        })
    }
}

impl Parse for ConfigDecl {
    fn parse(input: ParseStream) -> syn::Result<ConfigDecl> {
        let content;
        let parens = parenthesized!(content in input);
        let span = SpanRange::from(parens.span.open()).to(parens.span.close().into());
        let values: Vec<Assign<Spanned<ParamValue>>> = list(&content)?;
        Ok(ConfigDecl {
            span,
            values: values
                .into_iter()
                .map(|one| (one.name, one.value))
                .collect(),
        })
    }
}

impl Parse for ProblemDecl {
    fn parse(input: ParseStream) -> syn::Result<ProblemDecl> {
        let content;
        let parens = parenthesized!(content in input);
        let span = SpanRange::from(parens.span.open()).to(parens.span.close().into());
        let dims: Vec<Assign<Spanned<DimValue>>> = list(&content)?;
        Ok(ProblemDecl {
            span,
            dims: dims.into_iter().map(|dim| (dim.name, dim.value)).collect(),
        })
    }
}

/// Parses `relative = 1e-5, absolute = 0`.
impl Parse for Tolerance {
    fn parse(input: ParseStream) -> syn::Result<Tolerance> {
        let (mut relative, mut absolute) = (None, None);
        for bound in list::<Assign<Spanned<f64>>>(input)? {
            let slot = match &*bound.name.value {
                "relative" => &mut relative,
                "absolute" => &mut absolute,
                other => {
                    return Err(range_error(
                        bound.name.span,
                        &format!("unknown bound `{other}`"),
                        "a tolerance is `relative = 1e-5, absolute = 0`",
                    ));
                }
            };
            if slot.replace(bound.value.value).is_some() || bound.value.value < 0.0 {
                return Err(range_error(
                    bound.value.span,
                    "a bound is given once and is not negative",
                    "a tolerance is `relative = 1e-5, absolute = 0`",
                ));
            }
        }
        if relative.is_none() && absolute.is_none() {
            return Err(input.error("expected `relative = ..` or `absolute = ..`"));
        }
        Ok(Tolerance {
            relative: relative.unwrap_or(0.0),
            absolute: absolute.unwrap_or(0.0),
        })
    }
}

/// Quotes names and joins them to a list for a message.
pub(super) fn quoted(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let quoted: Vec<_> = names
        .into_iter()
        .map(|n| format!("`{}`", n.as_ref()))
        .collect();
    quoted.join(", ")
}

/// Checks that the name can also be used in a kernel's source. It must be ASCII and must not be a raw identifier.
pub(super) fn plain_name(ident: &Ident) -> syn::Result<Ident> {
    let text = ident.to_string();
    if text.starts_with("r#") || !text.is_ascii() {
        return Err(error_at(
            ident.span(),
            format!("`{text}` is not a name that a kernel's source can use"),
            "use ASCII letters, digits and `_`, and no Rust keyword",
        ));
    }
    Ok(ident.clone())
}
