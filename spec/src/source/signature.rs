//! Compares the arguments of a spec with the parameters of its kernel.

use thiserror::Error;

use super::constant::ConstantVariable;
use super::ctype::{Aliases, Base, CType};
use super::entry::Entry;
use super::error::Location;
use super::kernel_function::{KernelFunction, Parameter};
use super::scan::SourceScan;
use crate::expr::Expr;
use crate::model::{
    Access, ArgSpec, ElemRef, ElemType, KernelSpec, Passing, Plain, PlainArg, ScalarArg,
    ScalarType, SliceArg, TypedArg,
};

/// A difference between the arguments of a spec and the parameters of its kernel.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The spec and the source have different numbers of arguments.
    #[error(
        "kernel `{kernel}` takes {in_source} arguments in the source ({at}) but {in_spec} in its spec\nhelp: the source declares ({params})"
    )]
    Count {
        /// The name of the kernel.
        kernel: String,
        /// Number of arguments in the spec that are parameters of the `__global__` function.
        in_spec: usize,
        /// Number of parameters in the source.
        in_source: usize,
        /// The parameters in the source, as written.
        params: String,
        /// The file and line of the kernel.
        at: Location,
    },
    /// An argument has different types in the spec and in the source.
    #[error(
        "argument `{arg}` of `{kernel}` is `{in_spec}` in the spec but `{in_source}` in the source ({at})\nhelp: {help}"
    )]
    Type {
        /// The name of the kernel.
        kernel: String,
        /// The argument's name in the spec.
        arg: String,
        /// The argument's index in the argument list, from 0.
        index: usize,
        /// The argument's type in the spec.
        in_spec: String,
        /// The argument's type in the source.
        in_source: String,
        /// How to make the types equal.
        help: String,
        /// The file and line of the kernel.
        at: Location,
    },
}

impl SignatureError {
    /// The index of the argument that differs, from 0. `None` if the numbers of arguments differ.
    pub fn argument(&self) -> Option<usize> {
        match self {
            SignatureError::Count { .. } => None,
            SignatureError::Type { index, .. } => Some(*index),
        }
    }
}

impl SourceScan {
    /// Every difference between the arguments of a spec and the parameters of an entry, in all definitions of the
    /// entry. Each argument is reported at most once.
    ///
    /// Names may differ. Equal types match, and the following types match too:
    ///
    /// - a pointer to vectors (`float4*`) and a slice of their elements that declares `#[align(..)]`
    /// - a pointer to vectors and a slice of smaller elements that are packed into them, such as `int4*` for `f16`, if
    ///   the slice declares `#[align(..)]`
    /// - a pointer to a type parameter of the source and a slice of the type parameter with the same name
    /// - a pointer to a type of the author and a slice with a fixed element type
    /// - a `void` pointer and any slice
    /// - a pointer and the `u64` that is computed as 0, which passes a null pointer
    /// - `bool` and `u8`, for numbers and for elements of slices
    /// - a pointer without `const` and an input, because verification checks that the kernel does not write it
    /// - a type of the author or a vector, passed by value, and a struct or array, because the compiler compares their
    ///   layouts
    /// - an enum of the author, passed by value, and `i32` or `u32`, because the compiler compares their sizes
    pub fn compare_signature(&self, spec: &KernelSpec, entry: &Entry<'_>) -> Vec<SignatureError> {
        let definitions = entry.sites.iter().filter(|site| site.body_open.is_some());
        let mut errors: Vec<SignatureError> = Vec::new();
        for site in definitions {
            for error in self.compare_site(spec, site, entry.arguments.as_deref()) {
                if !errors
                    .iter()
                    .any(|known| known.argument() == error.argument())
                {
                    errors.push(error);
                }
            }
        }
        errors
    }

    /// Whether a parameter of this type may be an enum that the source declares, by value.
    pub fn is_enum(&self, ty: &str) -> bool {
        let is_declared = |name: &str| {
            let mut enums = self.units.iter().filter(|unit| unit.head.contains("enum"));
            enums.any(|unit| unit.is_class() && unit.declares.contains(name))
        };
        let meanings = CType::meanings(ty, &self.aliases).into_iter();
        let mut by_value = meanings.filter(|ty| ty.pointers == 0 && !ty.reference);
        by_value.any(|ty| match &ty.base {
            // The name follows those of its namespaces, or the word `enum`.
            Base::Named(name) => name.rsplit(' ').next().is_some_and(is_declared),
            _ => false,
        })
    }

    /// Compares a slice with the `__constant__` variable that it fills. Returns a help text if the slice cannot fill
    /// the variable; `None` if it can. A slice of bytes can fill a variable of any type.
    pub fn compare_constant(
        &self,
        slice: &SliceArg,
        constant: &ConstantVariable,
    ) -> Option<String> {
        if slice.elem == ElemRef::Fixed(ElemType::U8) {
            return None;
        }
        let meanings = CType::meanings(&constant.ty, &self.aliases);
        let same = meanings.iter().any(|ty| match (&slice.elem, &ty.base) {
            (ElemRef::Param(name), Base::Named(found)) => name == found,
            // The variable's type is a struct or comes from a header. Leave the comparison to the compiler.
            (ElemRef::Fixed(_), Base::Named(_)) => true,
            (ElemRef::Fixed(elem), Base::Vector(found, _)) => elem == found,
            (ElemRef::Fixed(elem), base) => base.elem() == Some(*elem),
            (ElemRef::Param(_), _) => false,
        });
        (!same).then(|| match meanings.first().and_then(|ty| ty.base.elem()) {
            Some(elem) => format!("declare it `&[{}]`", elem.name()),
            None => "declare it `&[u8]`: bytes fill a variable of any type".into(),
        })
    }

    fn compare_site(
        &self,
        spec: &KernelSpec,
        site: &KernelFunction,
        arguments: Option<&[String]>,
    ) -> Vec<SignatureError> {
        let passed = spec.parameters().count();
        if passed != site.params.len() {
            let params = site.params.iter().map(|p| format!("{} {}", p.ty, p.name));
            return vec![SignatureError::Count {
                kernel: site.name.clone(),
                in_spec: passed,
                in_source: site.params.len(),
                params: params.collect::<Vec<_>>().join(", "),
                at: site.at.clone(),
            }];
        }
        let mut aliases = self.aliases.clone();
        if let (Some(template), Some(arguments)) = (&site.template, arguments) {
            let types = template.with(arguments).unwrap_or_default();
            let types = types
                .into_iter()
                .filter(|(param, _)| param.declaration.is_none());
            aliases.extend(types.map(|(param, ty)| (param.name.clone(), vec![ty.to_owned()])));
        }
        // The spec determines the types of a type parameter, even if the source defines a default for its name.
        for ty in &spec.types {
            aliases.remove(&*ty.name);
        }
        let mut scalar_aliases = aliases.clone();
        for ty in &spec.types {
            if let [only] = ty.choices[..] {
                scalar_aliases.insert(ty.name.to_string(), vec![only.c_name().into()]);
            }
        }
        let pairs = spec.parameters().zip(&site.params);
        pairs
            .filter_map(|((index, arg), param)| {
                let help = match arg {
                    ArgSpec::Scalar(scalar) if self.is_enum(&param.ty) => enum_mismatch(scalar),
                    ArgSpec::Scalar(scalar) => {
                        mismatch(&param.ty, &scalar_aliases, |ty| scalar_mismatch(scalar, ty))
                    }
                    ArgSpec::Plain(plain) => {
                        mismatch(&param.ty, &aliases, |ty| plain_mismatch(plain, ty))
                    }
                    ArgSpec::Slice(slice) => {
                        mismatch(&param.ty, &aliases, |ty| slice_mismatch(slice, ty))
                    }
                    ArgSpec::Typed(typed) => {
                        mismatch(&param.ty, &aliases, |ty| typed_mismatch(typed, ty))
                    }
                }?;
                Some(type_error(site, index, arg, param, help))
            })
            .collect()
    }
}

/// Compares an argument with the types that a parameter may have. Returns a help text if none matches; `None` if one
/// does.
fn mismatch(
    param: &str,
    aliases: &Aliases,
    help: impl Fn(&CType) -> Option<String>,
) -> Option<String> {
    let mut helps = CType::meanings(param, aliases)
        .into_iter()
        .map(|ty| help(&ty));
    let first = helps.next()?;
    helps.fold(first, Option::and)
}

fn type_error(
    site: &KernelFunction,
    index: usize,
    arg: &ArgSpec,
    param: &Parameter,
    help: String,
) -> SignatureError {
    let in_spec = match arg {
        ArgSpec::Scalar(scalar) => scalar.ty.name().to_owned(),
        ArgSpec::Plain(plain) => plain.value.type_name(),
        ArgSpec::Slice(slice) => {
            let elem = slice.elem.name();
            let reference = if slice.access == Access::In {
                "&"
            } else {
                "&mut "
            };
            format!("{reference}[{elem}]")
        }
        ArgSpec::Typed(typed) => typed.ty.name().to_owned(),
    };
    SignatureError::Type {
        kernel: site.name.clone(),
        arg: arg.name().to_owned(),
        index,
        in_spec,
        in_source: param.ty.clone(),
        help,
        at: site.at.clone(),
    }
}

/// Compares a scalar with a parameter's type. Returns a help text if they do not match; `None` if they do.
fn scalar_mismatch(scalar: &ScalarArg, ty: &CType) -> Option<String> {
    if ty.pointers > 0 {
        return (!is_null_pointer(scalar)).then(|| {
            format!(
                "declare it `&[..]` or `&mut [..]`, or take `{}` by value; `#[computed(0)] {}: u64` passes a null pointer",
                scalar.ty.c_name(),
                scalar.name
            )
        });
    }
    if ty.reference {
        return Some("a kernel takes numbers by value".into());
    }
    match &ty.base {
        Base::Scalar(found) if *found == scalar.ty => None,
        Base::Scalar(found) => Some(format!("declare it `{}: {}`", scalar.name, found.name())),
        Base::Elem(found) => Some(format!(
            "declare it `#[value(0.5)] {}: {}`",
            scalar.name,
            found.name()
        )),
        _ => Some(format!("take `{}` in the source", scalar.ty.c_name())),
    }
}

/// Compares a scalar with an enum. Returns a help text if they do not match; `None` if they do. The compiler compares
/// the sizes.
fn enum_mismatch(scalar: &ScalarArg) -> Option<String> {
    let is_integer = matches!(scalar.ty, ScalarType::I32 | ScalarType::U32);
    (!is_integer).then(|| format!("declare it `{}: i32`, because it is an enum", scalar.name))
}

/// Compares a number of a 16-bit type or of a type parameter with a parameter's type. Returns a help text if they do not
/// match; `None` if they do.
fn typed_mismatch(typed: &TypedArg, ty: &CType) -> Option<String> {
    if ty.pointers > 0 {
        let c_name = typed.ty.c_name();
        return Some(format!(
            "declare it `&[..]` or `&mut [..]`, or take `{c_name}` by value"
        ));
    }
    if ty.reference {
        return Some("a kernel takes numbers by value".into());
    }
    match (&typed.ty, &ty.base) {
        (ElemRef::Param(name), Base::Named(found)) if name == found => None,
        (ElemRef::Param(name), Base::Named(found)) => Some(format!(
            "name the type parameter `{found}`, or take `{name}`"
        )),
        (ElemRef::Fixed(elem), base) if base.elem() == Some(*elem) => None,
        (_, base) => {
            let c_name = typed.ty.c_name();
            Some(match base.elem() {
                Some(found) => format!(
                    "declare it `{}: {}`, or take `{c_name}`",
                    typed.name,
                    found.name()
                ),
                None => format!("take `{c_name}` in the source"),
            })
        }
    }
}

/// Whether the launch always passes the bytes of a null pointer: the argument is a `u64` that is computed as 0.
fn is_null_pointer(scalar: &ScalarArg) -> bool {
    scalar.ty == ScalarType::U64 && scalar.passing == Passing::Computed(Expr::Int(0))
}

/// Compares a struct or array with a parameter's type. Returns a help text if they do not match; `None` if they do.
/// Only the form of the type is compared here. The compiler compares its size.
fn plain_mismatch(plain: &PlainArg, ty: &CType) -> Option<String> {
    let by_value = ty.pointers == 0 && !ty.reference;
    let same = match (&plain.value, &ty.base) {
        (_, Base::Named(_)) => true,
        (Plain::Array(elements), Base::Vector(elem, width)) => {
            let is_elem = |e: &Plain| matches!(e, Plain::Number(ty, _) if ty.name() == elem.name());
            elements.len() == *width as usize && elements.iter().all(is_elem)
        }
        (Plain::Struct { .. }, Base::Vector(..)) => true,
        _ => false,
    };
    (!by_value || !same).then(|| match plain.value {
        Plain::Struct { .. } => "take a struct by value in the source".into(),
        _ => "take a vector or a struct by value in the source, such as `float4`".into(),
    })
}

/// Compares a slice with a parameter's type. Returns a help text if they do not match; `None` if they do.
fn slice_mismatch(slice: &SliceArg, ty: &CType) -> Option<String> {
    if ty.pointers != 1 || ty.reference {
        return Some(format!("a slice is one pointer: take `{}`", pointer(slice)));
    }
    if slice.access != Access::In && ty.pointee_const {
        return Some(format!(
            "declare it `&[..]` if it is only read, or take `{}`",
            pointer(slice)
        ));
    }
    let same = match (&slice.elem, &ty.base) {
        (_, Base::Void) => true,
        (ElemRef::Param(name), Base::Named(found)) => return named_mismatch(name, found),
        (ElemRef::Fixed(_), Base::Named(_)) => true,
        (ElemRef::Fixed(elem), Base::Vector(found, width))
            if elem == found || is_packed(*elem, *found) =>
        {
            let elements = found.bytes() * *width as usize / elem.bytes();
            // A vector of three elements has the alignment of one element.
            let missing = slice.align.is_none() && elements > 1 && elements.is_power_of_two();
            return missing.then(|| {
                format!(
                    "add `#[align({elements})]` to `{}`: the kernel reads vectors",
                    slice.name
                )
            });
        }
        (ElemRef::Fixed(elem), base) => base.elem() == Some(*elem),
        // The size of the type is not known here.
        (ElemRef::Param(_), Base::Vector(..)) => slice.align.is_some(),
        (ElemRef::Param(_), _) => false,
    };
    (!same).then(|| match (&slice.elem, ty.base.elem()) {
        (ElemRef::Fixed(_), Some(found)) => format!(
            "make it a slice of `{}`, or take `{}`",
            found.name(),
            pointer(slice)
        ),
        _ => format!("take `{}`", pointer(slice)),
    })
}

/// Whether kernels pack elements of this small type into vectors of another type, to load many of them at once.
fn is_packed(elem: ElemType, of_vector: ElemType) -> bool {
    elem.bytes() <= 2 && elem.bytes() < of_vector.bytes()
}

/// The help text for a type parameter of the spec that has another name in the source.
fn named_mismatch(param: &str, found: &str) -> Option<String> {
    (param != found).then(|| format!("name the type parameter `{found}`, or take `{param}*`"))
}

fn pointer(slice: &SliceArg) -> String {
    let constant = if slice.access == Access::In {
        "const "
    } else {
        ""
    };
    format!("{constant}{}*", slice.elem.c_name())
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
