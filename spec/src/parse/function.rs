//! Parses the block `unsafe extern "C" { fn kernel(..); }` below the attribute.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, FnArg, ForeignItem, Ident, Pat, Type};

use super::SpannedExpr;
use super::declaration::{ArgDecl, ArgKind, KernelFn, Spanned};
use super::expression::{error, error_at};
use super::plain::{PlainDecl, is_plain};
use super::values::{list, plain_name};
use crate::model::{Comparison, ElemRef, ElemType, Fill, ScalarType, ScalarValue, Tolerance};
use crate::text::diagnostic::{Diagnostics, SpanRange};
use crate::text::spelling::nearest;

const SHAPE: &str = "write `unsafe extern \"C\" { fn kernel(n: u32, #[len(n)] x: &[f32], \
     #[len(n)] y: &mut [f32]); }`";

/// The attributes of arguments that have a meaning for Kiln.
const ARGUMENT_ATTRIBUTES: [&str; 9] = [
    "len",
    "fill",
    "value",
    "computed",
    "inout",
    "align",
    "tolerance",
    "compare",
    "constant",
];

/// Maximum length of a kernel's name, in bytes.
const MAX_KERNEL_NAME: usize = 200;

impl KernelFn {
    /// Parses the block. Reports the mistakes of all arguments. `types` are the names of the type parameters.
    ///
    /// # Errors
    /// If the block has mistakes, or contains no function.
    pub fn parse(item: TokenStream, types: &[&str]) -> Result<KernelFn, Diagnostics> {
        let mut diagnostics = Diagnostics::new();
        let found = foreign_block(item).and_then(|block| {
            let function = single_function(&block)?.clone();
            Ok((block, function))
        });
        let (block, mut function) = match found {
            Ok(found) => found,
            Err(error) => {
                diagnostics.push_syn(error);
                return Err(diagnostics);
            }
        };
        if let Err(error) = plain_signature(&function.sig) {
            diagnostics.push_syn(error);
        }
        let mut args = Vec::new();
        for input in &function.sig.inputs {
            match argument(input, types) {
                Ok(argument) => args.push(argument),
                Err(error) => diagnostics.push_syn(error),
            }
        }
        if let Err(error) = table_name(&function.sig.ident) {
            diagnostics.push_syn(error);
        }
        let mut attrs = block.attrs;
        attrs.append(&mut function.attrs);
        diagnostics.into_result(KernelFn {
            attrs,
            vis: function.vis,
            ident: function.sig.ident,
            args,
        })
    }
}

/// Checks that a table can have the name of the kernel. The name becomes a part of file names and symbols, which have
/// at most 255 bytes. The check comes here so that a run cannot fail after it has measured something.
fn table_name(ident: &Ident) -> syn::Result<()> {
    let name = ident.to_string();
    if name.len() > MAX_KERNEL_NAME {
        return Err(error_at(
            ident.span(),
            format!(
                "the kernel's name has {} characters, and at most {MAX_KERNEL_NAME} are allowed",
                name.len()
            ),
            "give the function a shorter name, and name the `__global__` function with `entry = \"..\"`",
        ));
    }
    if name == "index" {
        return Err(error_at(
            ident.span(),
            "a kernel cannot be named `index`: `tuned/index.toml` is the index of all tables",
            "give the function another name, and name the `__global__` function with `entry = \"index\"`",
        ));
    }
    Ok(())
}

fn foreign_block(item: TokenStream) -> syn::Result<syn::ItemForeignMod> {
    syn::parse2(item.clone()).map_err(|cause| {
        if item.to_string().contains("extern") {
            cause
        } else {
            error(item, "a tuned kernel is declared in a foreign block", SHAPE)
        }
    })
}

fn single_function(block: &syn::ItemForeignMod) -> syn::Result<&syn::ForeignItemFn> {
    if block.unsafety.is_none() {
        return Err(error(
            &block.abi,
            "the block must be `unsafe`",
            "write `unsafe extern \"C\"`: you vouch that the source does what the spec says",
        ));
    }
    if block
        .abi
        .name
        .as_ref()
        .is_none_or(|name| name.value() != "C")
    {
        let help = "write `unsafe extern \"C\"`";
        return Err(error(&block.abi, "the ABI must be \"C\"", help));
    }
    match &block.items[..] {
        [ForeignItem::Fn(function)] => Ok(function),
        [ForeignItem::Fn(_), second, ..] => Err(error(
            second,
            "one attribute declares one kernel",
            "give the second function a block and an attribute of its own",
        )),
        [other, ..] => Err(error(other, "expected a function", SHAPE)),
        [] => Err(error(block, "the block declares no kernel", SHAPE)),
    }
}

/// Rejects syntax that the signature of a kernel cannot have.
fn plain_signature(sig: &syn::Signature) -> syn::Result<()> {
    if !sig.generics.params.is_empty() {
        return Err(error(
            &sig.generics,
            "a kernel has no generics of its own",
            "declare element types in the attribute: `types(T in [f32, f16])`",
        ));
    }
    if let syn::ReturnType::Type(_, ty) = &sig.output {
        return Err(error(
            ty,
            "a kernel returns nothing",
            "write results through a `&mut [T]` argument",
        ));
    }
    if let Some(variadic) = &sig.variadic {
        return Err(error(variadic, "a kernel's arguments are all named", SHAPE));
    }
    if !matches!(sig.safety, syn::Safety::Default) {
        return Err(error(
            &sig.safety,
            "`safe` and `unsafe` do not go here",
            "the block's `unsafe` vouches for it; the generated function is safe",
        ));
    }
    Ok(())
}

fn argument(input: &FnArg, types: &[&str]) -> syn::Result<ArgDecl> {
    let FnArg::Typed(typed) = input else {
        return Err(error(input, "a kernel has no `self`", SHAPE));
    };
    let Pat::Ident(pattern) = &*typed.pat else {
        return Err(error(&typed.pat, "expected the argument's name", SHAPE));
    };
    if pattern.by_ref.is_some() || pattern.mutability.is_some() || pattern.subpat.is_some() {
        return Err(error(pattern, "expected the argument's name alone", SHAPE));
    }
    let plain = plain_value(typed)?;
    let kind = match plain {
        Some(_) => ArgKind::Plain,
        None => argument_type(&typed.ty, types)?,
    };
    let mut decl = ArgDecl {
        plain,
        ..ArgDecl::new(plain_name(&pattern.ident)?, SpanRange::of(&typed.ty), kind)
    };
    for attribute in &typed.attrs {
        take_attribute(&mut decl, attribute)?;
    }
    Ok(decl)
}

/// The value of an argument if it is a struct or an array; `None` for other arguments.
fn plain_value(typed: &syn::PatType) -> syn::Result<Option<PlainDecl>> {
    let mut values = typed
        .attrs
        .iter()
        .filter(|attr| attr.path().is_ident("value"));
    let value = values
        .next()
        .and_then(|value| value.parse_args::<syn::Expr>().ok());
    match value.filter(is_plain) {
        Some(value) => PlainDecl::new(&typed.ty, &value).map(Some),
        None => Ok(None),
    }
}

fn argument_type(ty: &Type, types: &[&str]) -> syn::Result<ArgKind> {
    match ty {
        Type::Group(group) => argument_type(&group.elem, types),
        Type::Paren(paren) => argument_type(&paren.elem, types),
        Type::Reference(reference) => match &*reference.elem {
            Type::Slice(slice) if reference.lifetime.is_none() => Ok(ArgKind::Slice {
                mutable: reference.mutability.is_some(),
                elem: element(&slice.elem, types)?,
            }),
            _ => Err(unsupported(ty)),
        },
        Type::Path(path) => {
            let scalar = path.path.get_ident().map(ToString::to_string);
            if let Some(scalar) = scalar.and_then(|name| ScalarType::from_name(&name)) {
                return Ok(ArgKind::Scalar(scalar));
            }
            // 16-bit floats and type parameters have the same names as in slices.
            let typed = element(ty, types).map_err(|_| unsupported(ty))?;
            let is_fixed = |ty: &ElemType| ScalarType::from_name(ty.name()).is_some();
            match &typed {
                ElemRef::Fixed(fixed) if is_fixed(fixed) => Err(unsupported(ty)),
                _ => Ok(ArgKind::Typed(typed)),
            }
        }
        _ => Err(unsupported(ty)),
    }
}

fn element(ty: &Type, types: &[&str]) -> syn::Result<ElemRef> {
    let Type::Path(path) = ty else {
        return Err(unsupported(ty));
    };
    // Ignore the path, because `half::f16` is the same type as `f16`. A type parameter has no path.
    let Some(last) = path.path.segments.last() else {
        return Err(unsupported(ty));
    };
    let name = last.ident.to_string();
    if types.contains(&name.as_str()) && path.path.get_ident().is_some() {
        return Ok(ElemRef::Param(name));
    }
    if let Some(ty) = ElemType::from_name(&name) {
        return Ok(ElemRef::Fixed(ty));
    }
    let known = ElemType::ALL.iter().map(|ty| ty.name());
    let known: Vec<_> = known.chain(types.iter().copied()).collect();
    let help = match nearest(&name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "element types are {}; a name for several of them is declared in the attribute: `types({name} in [f32, f16])`",
            known.join(", ")
        ),
    };
    Err(error(ty, format!("unknown element type `{name}`"), &help))
}

fn unsupported(ty: &Type) -> syn::Error {
    let starts_like_a_struct = |path: &syn::TypePath| {
        let last = path.path.segments.last();
        last.is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
    };
    if let Type::Path(path) = ty
        && starts_like_a_struct(path)
    {
        let name = path.to_token_stream();
        let help = format!(
            "write `#[value({name} {{ scale: 0.5f32, count: n as u32 }})]` before it, with its fields; if `{name}` \
             stands for several number types, declare `types({name} in [f32, f16])` in the attribute"
        );
        return error(ty, "a struct needs a value to tune with", &help);
    }
    let scalars: Vec<_> = ScalarType::ALL.iter().map(|t| t.name()).collect();
    error(
        ty,
        "a kernel cannot take this type",
        &format!(
            "arguments are {}, f16, bf16 and type parameters by value, `&[T]` and `&mut [T]`",
            scalars.join(", ")
        ),
    )
}

fn take_attribute(decl: &mut ArgDecl, attribute: &Attribute) -> syn::Result<()> {
    let name = attribute.path().get_ident().map(ToString::to_string);
    let name = name.unwrap_or_default();
    let span = SpanRange::of(attribute);
    let fresh = match name.as_str() {
        "len" => decl.len.replace(attribute.parse_args()?).is_none(),
        "align" => decl.align.replace(attribute.parse_args()?).is_none(),
        "value" if decl.plain.is_some() => true,
        "value" => decl.value.replace(scalar_value(attribute)?).is_none(),
        "computed" => decl.computed.replace(attribute.parse_args()?).is_none(),
        "compare" => decl.compare.replace(comparison(attribute)?).is_none(),
        "constant" => {
            let constant = constant_variable(attribute, &decl.ident)?;
            decl.constant.replace(constant).is_none()
        }
        "inout" => {
            attribute.meta.require_path_only()?;
            decl.inout.replace(span).is_none()
        }
        "tolerance" => {
            let value: Tolerance = attribute.parse_args()?;
            decl.tolerance.replace(Spanned { value, span }).is_none()
        }
        "fill" => {
            let (value, expr) = attribute.parse_args_with(fill)?;
            decl.fill_expr = expr;
            decl.fill.replace(Spanned { value, span }).is_none()
        }
        "doc" | "allow" | "expect" => true,
        _ => return Err(unknown_attribute(attribute, &name)),
    };
    if fresh {
        Ok(())
    } else {
        let help = "give each attribute once";
        Err(error(
            attribute,
            format!("`#[{name}]` is given twice"),
            help,
        ))
    }
}

fn unknown_attribute(attribute: &Attribute, name: &str) -> syn::Error {
    let help = match nearest(name, ARGUMENT_ATTRIBUTES) {
        Some(near) => format!("did you mean `#[{near}(..)]`?"),
        None => format!("arguments take {}", ARGUMENT_ATTRIBUTES.join(", ")),
    };
    let path = attribute.path().to_token_stream();
    error(path, format!("unknown attribute `{name}`"), &help)
}

/// Parses `#[compare(sum)]`.
fn comparison(attribute: &Attribute) -> syn::Result<Spanned<Comparison>> {
    let name: Ident = attribute.parse_args()?;
    let known = || Comparison::ALL.iter().map(|(known, _)| *known);
    let found = Comparison::ALL.iter().find(|(known, _)| name == known);
    let Some((_, value)) = found else {
        let help = match nearest(&name.to_string(), known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "write `#[compare(sum)]`, `max`, `min` or `none`".into(),
        };
        let message = format!("unknown comparison `{name}`");
        return Err(error(&name, message, &help));
    };
    Ok(Spanned {
        value: *value,
        span: SpanRange::of(attribute),
    })
}

/// Parses `#[constant(tables::taps)]` or `#[constant]`. The latter means the variable with the argument's name.
fn constant_variable(attribute: &Attribute, argument: &Ident) -> syn::Result<Spanned<String>> {
    let value = if let syn::Meta::Path(_) = attribute.meta {
        argument.to_string()
    } else {
        let path: syn::Path = attribute.parse_args_with(syn::Path::parse_mod_style)?;
        let names = path.segments.iter().map(|name| name.ident.to_string());
        names.collect::<Vec<_>>().join("::")
    };
    Ok(Spanned {
        value,
        span: SpanRange::of(attribute),
    })
}

fn scalar_value(attribute: &Attribute) -> syn::Result<Spanned<ScalarValue>> {
    let parser = |input: ParseStream| {
        let ahead = input.fork();
        ahead.parse::<Option<syn::Token![-]>>()?;
        if ahead.peek(syn::LitInt) {
            let int: Spanned<i64> = input.parse()?;
            return Ok(Spanned {
                value: ScalarValue::Int(int.value),
                span: int.span,
            });
        }
        let real: Spanned<f64> = input.parse()?;
        Ok(Spanned {
            value: ScalarValue::Float(real.value),
            span: real.span,
        })
    };
    attribute.parse_args_with(parser)
}

const FILLS: &str = "fills are uniform(-1, 1), below(n), iota and constant(0)";

/// The `count` numbers between the parentheses of a fill. Any other number of them is an error.
fn numbers(kind: &Ident, arguments: TokenStream, count: usize) -> syn::Result<Vec<Spanned<f64>>> {
    let numbers = list::<Spanned<f64>>.parse2(arguments)?;
    if numbers.len() == count {
        Ok(numbers)
    } else {
        let message = format!("`{kind}` takes {count} numbers");
        Err(error(kind, message, FILLS))
    }
}

/// Parses `uniform(low, high)`, `below(e)`, `iota` or `constant(x)`.
fn fill(input: ParseStream) -> syn::Result<(Fill, Option<SpannedExpr>)> {
    let kind: Ident = input.parse()?;
    let arguments: TokenStream = if input.peek(syn::token::Paren) {
        input.parse::<proc_macro2::Group>()?.stream()
    } else {
        TokenStream::new()
    };
    let numbers = |count| numbers(&kind, arguments.clone(), count);
    match kind.to_string().as_str() {
        "uniform" => {
            let bounds = numbers(2)?;
            let (low, high) = (bounds[0].value, bounds[1].value);
            if low >= high {
                let message = "the lower bound must be below the upper one";
                return Err(error(&kind, message, FILLS));
            }
            Ok((Fill::Uniform { low, high }, None))
        }
        "constant" => Ok((Fill::Constant(numbers(1)?[0].value), None)),
        "iota" => numbers(0).map(|_| (Fill::Iota, None)),
        "below" => {
            let expr: SpannedExpr = syn::parse2(arguments)?;
            Ok((Fill::Below(expr.expr.clone()), Some(expr)))
        }
        _ => Err(error(&kind, format!("unknown fill `{kind}`"), FILLS)),
    }
}
