//! Parses the values of structs and arrays that are passed by value, such as
//! `Params { scale: 0.5f32, taps: [0.25f32; 4], n: n as u32 }`.

use quote::ToTokens as _;
use syn::Expr as Syntax;

use super::SpannedExpr;
use super::expression::error;
use crate::model::{Plain, PlainField, PlainNumber, ScalarType, ScalarValue};

const HELP: &str = "write each number with its type, and sizes as casts: \
     `Params { scale: 0.5f32, taps: [0.25f32; 4], count: n as u32 }`";

/// Maximum number of elements of an array that is passed by value.
const MAX_ELEMENTS: usize = 1024;

/// The value of a struct or array, as written.
#[derive(Clone, Debug)]
pub struct PlainDecl {
    /// The type of the argument.
    pub ty: syn::Type,
    /// The value with its layout and numbers.
    pub value: Plain,
    /// The expressions over problem sizes that the value contains.
    pub sizes: Vec<SpannedExpr>,
}

/// Whether a `#[value(..)]` contains a struct or an array.
pub(super) fn is_plain(value: &Syntax) -> bool {
    matches!(
        value,
        Syntax::Struct(_) | Syntax::Array(_) | Syntax::Repeat(_)
    )
}

impl PlainDecl {
    /// Parses the value of an argument of type `ty`.
    pub(super) fn new(ty: &syn::Type, value: &Syntax) -> syn::Result<PlainDecl> {
        let mut sizes = Vec::new();
        let value = plain(value, &mut sizes)?;
        Ok(PlainDecl {
            ty: ty.clone(),
            value,
            sizes,
        })
    }
}

fn plain(value: &Syntax, sizes: &mut Vec<SpannedExpr>) -> syn::Result<Plain> {
    match value {
        Syntax::Group(group) => plain(&group.expr, sizes),
        Syntax::Paren(paren) => plain(&paren.expr, sizes),
        Syntax::Lit(literal) => number(&literal.lit, false),
        Syntax::Unary(syn::ExprUnary {
            op: syn::UnOp::Neg(_),
            expr,
            ..
        }) => match &**expr {
            Syntax::Lit(literal) => number(&literal.lit, true),
            other => Err(error(other, "expected a number", HELP)),
        },
        Syntax::Array(array) => {
            let elements = array.elems.iter().map(|element| plain(element, sizes));
            of_one_type(value, elements.collect::<syn::Result<Vec<_>>>()?)
        }
        Syntax::Repeat(repeat) => {
            let count: syn::LitInt = syn::parse2(repeat.len.to_token_stream())?;
            let count = count.base10_parse::<usize>()?;
            if count > MAX_ELEMENTS {
                let message = format!("an array of more than {MAX_ELEMENTS} elements");
                return Err(error(&repeat.len, message, "pass it as a slice"));
            }
            of_one_type(value, vec![plain(&repeat.expr, sizes)?; count])
        }
        Syntax::Cast(cast) => {
            let size: SpannedExpr = syn::parse2(cast.expr.to_token_stream())?;
            let ty = ScalarType::from_name(&cast.ty.to_token_stream().to_string());
            let Some(ty) = ty.filter(|ty| ty.is_integer()) else {
                return Err(error(&cast.ty, "a size is an integer", HELP));
            };
            let value = PlainNumber::Size(size.expr.clone());
            sizes.push(size);
            Ok(Plain::Number(ty, value))
        }
        Syntax::Struct(value) => structure(value, sizes),
        other => Err(error(
            other,
            "expected a number, an array or a struct",
            HELP,
        )),
    }
}

fn structure(value: &syn::ExprStruct, sizes: &mut Vec<SpannedExpr>) -> syn::Result<Plain> {
    if let Some(rest) = &value.rest {
        return Err(error(rest, "every field needs a value", HELP));
    }
    let field = |field: &syn::FieldValue| {
        let syn::Member::Named(name) = &field.member else {
            return Err(error(&field.member, "a field has a name", HELP));
        };
        Ok(PlainField {
            name: name.to_string(),
            value: plain(&field.expr, sizes)?,
        })
    };
    let fields = value
        .fields
        .iter()
        .map(field)
        .collect::<syn::Result<Vec<_>>>()?;
    if fields.is_empty() {
        return Err(error(value, "a struct without fields", HELP));
    }
    let ty = value.path.to_token_stream().to_string().replace(' ', "");
    Ok(Plain::Struct { ty, fields })
}

fn of_one_type(array: &Syntax, elements: Vec<Plain>) -> syn::Result<Plain> {
    let names: Vec<String> = elements.iter().map(Plain::type_name).collect();
    if names.is_empty() {
        return Err(error(array, "an array without elements", HELP));
    }
    match names.iter().find(|name| **name != names[0]) {
        None => Ok(Plain::Array(elements)),
        Some(other) => {
            let message = format!("an array of {} and {other}", names[0]);
            Err(error(
                array,
                message,
                "the elements of an array have one type",
            ))
        }
    }
}

fn number(literal: &syn::Lit, negative: bool) -> syn::Result<Plain> {
    let (digits, suffix) = match literal {
        syn::Lit::Int(int) => (int.base10_digits().to_owned(), int.suffix()),
        syn::Lit::Float(float) => (float.base10_digits().to_owned(), float.suffix()),
        other => return Err(error(other, "expected a number", HELP)),
    };
    let Some(ty) = ScalarType::from_name(suffix) else {
        return Err(error(literal, "the number needs its type", HELP));
    };
    let text = if negative {
        format!("-{digits}")
    } else {
        digits
    };
    let value = if ty.is_integer() {
        let whole = text.parse::<i64>().ok().filter(|value| ty.holds(*value));
        whole.map(ScalarValue::Int)
    } else {
        text.parse::<f64>().ok().map(ScalarValue::Float)
    };
    match value {
        Some(value) => Ok(Plain::Number(ty, PlainNumber::Value(value))),
        None => Err(error(
            literal,
            format!("{text} is not a number of {ty}"),
            HELP,
        )),
    }
}
