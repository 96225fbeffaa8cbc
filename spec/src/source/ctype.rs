//! Parses the C types of kernel parameters, as far as a spec can declare such types.

use std::collections::BTreeMap;

use crate::model::{ElemType, ScalarType};

/// For each type name, the types that `typedef`, `using` and `#define` give it, as text. There may be several.
pub type Aliases = BTreeMap<String, Vec<String>>;

/// Maximum number of types that are considered for one alias.
const MEANINGS: usize = 16;

/// The type of a kernel parameter. Different spellings of one type (`unsigned`, `unsigned int`) give the same value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CType {
    /// The type without `const`, pointers and `__restrict__`.
    pub base: Base,
    /// Whether the pointer's target is `const`.
    pub pointee_const: bool,
    /// Number of pointer levels: 2 for `float**`.
    pub pointers: usize,
    /// Whether the type is a C++ reference.
    pub reference: bool,
}

/// A type without `const` and pointers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// A number that a spec can declare as a scalar argument.
    Scalar(ScalarType),
    /// A 16-bit float, which a spec can declare as the element of a slice or with `#[value(..)]`.
    Elem(ElemType),
    /// A vector of elements, such as `float4`: the element type and the number of elements.
    Vector(ElemType, u32),
    /// `void`.
    Void,
    /// A known C type that a spec cannot declare (`wchar_t`, `long double`), as written.
    Foreign(String),
    /// A name that is neither a known type nor an alias: a type parameter, or a type that the author defines.
    Named(String),
}

impl Base {
    /// This type as an element type; `None` if it is not an element type.
    pub fn elem(&self) -> Option<ElemType> {
        match self {
            Base::Scalar(scalar) => ElemType::from_name(scalar.name()),
            Base::Elem(elem) => Some(*elem),
            _ => None,
        }
    }
}

impl CType {
    /// Parses a type in the form of [`super::Parameter::ty`]. Returns every type that the text may mean, at least one.
    /// There are several if the branches of an `#if` give an alias different meanings.
    pub fn meanings(text: &str, aliases: &Aliases) -> Vec<CType> {
        CType::resolve(text, aliases, 8)
    }

    fn resolve(text: &str, aliases: &Aliases, depth: usize) -> Vec<CType> {
        let mut words: Vec<&str> = Vec::new();
        let (mut pointers, mut pointee_const, mut reference) = (0, false, false);
        // Template arguments are written without spaces, as in `float*`, so separate `*` and `&` from the words.
        let text = text.replace('*', " * ").replace('&', " & ");
        for word in text.split_whitespace() {
            match word {
                "*" => pointers += 1,
                "&" => reference = true,
                // After the first `*`, `const` describes the pointer itself. The caller passes a copy of it, so this is
                // ignored.
                "const" if pointers == 0 => pointee_const = true,
                "const" | "volatile" | "__restrict__" | "__restrict" | "restrict" => {}
                ":" | "std" | "struct" | "typename" | "__grid_constant__" => {}
                _ if is_restrict(word, aliases) => {}
                _ => words.push(word),
            }
        }
        let name = words.join(" ");
        if depth > 0
            && let Some(meanings) = aliases.get(&name)
        {
            let inner = meanings
                .iter()
                .take(MEANINGS)
                .flat_map(|alias| CType::resolve(alias, aliases, depth - 1));
            return inner
                .take(MEANINGS)
                .map(|inner| CType {
                    base: inner.base,
                    pointee_const: pointee_const || inner.pointee_const,
                    pointers: pointers + inner.pointers,
                    reference: reference || inner.reference,
                })
                .collect();
        }
        vec![CType {
            base: base(&words).unwrap_or(Base::Named(name)),
            pointee_const,
            pointers,
            reference,
        }]
    }
}

/// Whether a word is a macro for `__restrict__`, or for nothing.
fn is_restrict(word: &str, aliases: &Aliases) -> bool {
    let is_spelling = |word: &str| ["__restrict__", "__restrict", "restrict"].contains(&word);
    let meanings = aliases.get(word);
    meanings.is_some_and(|all| {
        all.iter()
            .all(|one| one.split_whitespace().all(is_spelling))
    })
}

/// The base type that these words spell; `None` if a name is unknown.
fn base(words: &[&str]) -> Option<Base> {
    if let [name] = words
        && let Some(base) = single(name)
    {
        return Some(base);
    }
    integer(words)
}

fn single(name: &str) -> Option<Base> {
    Some(match name {
        "float" => Base::Scalar(ScalarType::F32),
        "double" => Base::Scalar(ScalarType::F64),
        "int32_t" => Base::Scalar(ScalarType::I32),
        "uint32_t" | "uint" => Base::Scalar(ScalarType::U32),
        "int16_t" => Base::Scalar(ScalarType::I16),
        "uint16_t" | "ushort" => Base::Scalar(ScalarType::U16),
        "int8_t" => Base::Scalar(ScalarType::I8),
        "uint8_t" | "uchar" => Base::Scalar(ScalarType::U8),
        "int64_t" | "ssize_t" | "ptrdiff_t" | "intptr_t" => Base::Scalar(ScalarType::I64),
        // `size_t` has 64 bits on every supported device.
        "uint64_t" | "size_t" | "uintptr_t" | "ulong" => Base::Scalar(ScalarType::U64),
        "__half" | "half" | "_Float16" => Base::Elem(ElemType::F16),
        "__nv_bfloat16" | "nv_bfloat16" | "__hip_bfloat16" | "hip_bfloat16" | "__bf16" => {
            Base::Elem(ElemType::Bf16)
        }
        "__half2" | "half2" => Base::Vector(ElemType::F16, 2),
        "__nv_bfloat162" => Base::Vector(ElemType::Bf16, 2),
        "void" => Base::Void,
        // Do not use the Rust type `bool`: it forbids bytes other than 0 and 1, but a kernel may write other bytes.
        "bool" | "_Bool" => Base::Scalar(ScalarType::U8),
        "wchar_t" => Base::Foreign(name.into()),
        _ => return vector(name),
    })
}

fn vector(name: &str) -> Option<Base> {
    let (stem, width) = name.split_at(name.len().checked_sub(1)?);
    let width = match width {
        "1" => 1,
        "2" => 2,
        "3" => 3,
        "4" => 4,
        _ => return None,
    };
    let elem = match stem {
        "float" => ElemType::F32,
        "double" => ElemType::F64,
        "int" => ElemType::I32,
        "uint" => ElemType::U32,
        "longlong" | "long" => ElemType::I64,
        "ulonglong" | "ulong" => ElemType::U64,
        "short" => ElemType::I16,
        "ushort" => ElemType::U16,
        "char" => ElemType::I8,
        "uchar" => ElemType::U8,
        _ => return None,
    };
    Some(Base::Vector(elem, width))
}

/// Parses an integer type that is spelled with `unsigned`, `long`, `int`, `char` and similar words in any order.
fn integer(words: &[&str]) -> Option<Base> {
    let count = |word: &str| words.iter().filter(|w| **w == word).count();
    let (unsigned, signed, long) = (count("unsigned"), count("signed"), count("long"));
    let (short, int, char) = (count("short"), count("int"), count("char"));
    let known = unsigned + signed + long + short + int + char;
    if words.is_empty() || known != words.len() || int > 1 || long > 2 || unsigned + signed > 1 {
        return None;
    }
    let base = match (char, short, long, unsigned) {
        (1, 0, 0, 1) => Base::Scalar(ScalarType::U8),
        // Plain `char` is signed, because kernels are compiled with `-fsigned-char`.
        (1, 0, 0, 0) => Base::Scalar(ScalarType::I8),
        (0, 1, 0, 1) => Base::Scalar(ScalarType::U16),
        (0, 1, 0, 0) => Base::Scalar(ScalarType::I16),
        (0, 0, 0, 1) => Base::Scalar(ScalarType::U32),
        (0, 0, 0, 0) => Base::Scalar(ScalarType::I32),
        // `long` has 64 bits on Linux, where kernels are compiled.
        (0, 0, 1 | 2, 1) => Base::Scalar(ScalarType::U64),
        (0, 0, 1 | 2, 0) => Base::Scalar(ScalarType::I64),
        _ => Base::Foreign(words.join(" ")),
    };
    Some(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> CType {
        meant(text, &BTreeMap::new())
    }

    fn meant(text: &str, aliases: &Aliases) -> CType {
        let [only] = CType::meanings(text, aliases).try_into().unwrap();
        only
    }

    #[test]
    fn spellings_of_one_type_are_equal() {
        for (spellings, scalar) in [
            (
                [
                    "unsigned",
                    "unsigned int",
                    "uint32_t",
                    "std : : uint32_t",
                    "const unsigned",
                ],
                ScalarType::U32,
            ),
            (
                ["int", "signed", "int32_t", "const int", "signed int"],
                ScalarType::I32,
            ),
            (
                [
                    "unsigned long long",
                    "uint64_t",
                    "size_t",
                    "unsigned long",
                    "long unsigned int",
                ],
                ScalarType::U64,
            ),
            (
                [
                    "long long",
                    "int64_t",
                    "long",
                    "long long int",
                    "const long",
                ],
                ScalarType::I64,
            ),
        ] {
            for spelling in spellings {
                assert_eq!(parse(spelling).base, Base::Scalar(scalar), "{spelling}");
            }
        }
    }

    #[test]
    fn an_alias_may_be_a_pointer_that_is_written_without_spaces() {
        for spelling in ["const float*", "const float *"] {
            let aliases = Aliases::from([("Iterator".to_owned(), vec![spelling.to_owned()])]);
            let found = meant("Iterator", &aliases);
            assert_eq!(found.base, Base::Scalar(ScalarType::F32), "{spelling}");
            assert!(found.pointee_const && found.pointers == 1, "{spelling}");
        }
    }

    #[test]
    fn every_width_of_number_has_its_spellings() {
        for (spelling, scalar) in [
            ("double", ScalarType::F64),
            ("short", ScalarType::I16),
            ("short int", ScalarType::I16),
            ("int16_t", ScalarType::I16),
            ("unsigned short", ScalarType::U16),
            ("uint16_t", ScalarType::U16),
            ("char", ScalarType::I8),
            ("signed char", ScalarType::I8),
            ("std : : int8_t", ScalarType::I8),
            ("unsigned char", ScalarType::U8),
            ("uint8_t", ScalarType::U8),
        ] {
            assert_eq!(parse(spelling).base, Base::Scalar(scalar), "{spelling}");
            let elem = parse(&format!("const {spelling} *")).base.elem();
            assert_eq!(elem, ElemType::from_name(scalar.name()), "{spelling}");
        }
    }

    #[test]
    fn const_counts_only_for_what_is_pointed_to() {
        for constant in [
            "const float *",
            "float const *",
            "const float * __restrict__",
            "const float * const",
        ] {
            let ty = parse(constant);
            assert_eq!((ty.pointee_const, ty.pointers), (true, 1), "{constant}");
        }
        let ty = parse("float * const __restrict__");
        assert_eq!((ty.pointee_const, ty.pointers), (false, 1));
        assert_eq!(parse("float * *").pointers, 2);
        assert!(parse("const float &").reference);
    }

    #[test]
    fn element_types_vectors_and_unknown_names_are_told_apart() {
        assert_eq!(parse("const __half *").base, Base::Elem(ElemType::F16));
        assert_eq!(parse("const float4 *").base, Base::Vector(ElemType::F32, 4));
        assert_eq!(parse("double2 *").base, Base::Vector(ElemType::F64, 2));
        assert_eq!(parse("bool").base, Base::Scalar(ScalarType::U8));
        assert_eq!(parse("wchar_t").base, Base::Foreign("wchar_t".into()));
        assert_eq!(parse("long double").base, Base::Named("long double".into()));
        assert_eq!(parse("T *").base, Base::Named("T".into()));
        assert_eq!(parse("int int").base, Base::Named("int int".into()));
    }

    #[test]
    fn aliases_are_resolved_and_cycles_end() {
        let alias = |name: &str, ty: &str| (name.to_owned(), vec![ty.to_owned()]);
        let aliases = BTreeMap::from([
            alias("real", "float"),
            alias("input", "const real *"),
            alias("a", "b"),
            alias("b", "a"),
        ]);
        let ty = meant("input", &aliases);
        assert_eq!(
            (ty.base, ty.pointee_const, ty.pointers),
            (Base::Scalar(ScalarType::F32), true, 1)
        );
        assert!(matches!(meant("a *", &aliases).base, Base::Named(_)));
    }

    #[test]
    fn an_alias_of_two_types_may_be_either() {
        let both = vec!["float".to_owned(), "double".to_owned()];
        let aliases = BTreeMap::from([("real".to_owned(), both)]);
        let bases = CType::meanings("const real *", &aliases);
        let bases: Vec<Base> = bases.into_iter().map(|ty| ty.base).collect();
        assert_eq!(bases, [ScalarType::F32, ScalarType::F64].map(Base::Scalar));
    }
}
