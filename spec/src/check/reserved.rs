//! Names that a tunable parameter or a type parameter cannot have, because each of them becomes a macro of the source.

/// Keywords of C++ and names that belong to the execution models of CUDA and HIP, sorted. A tunable parameter becomes a
/// macro, and a macro with one of these names would change the meaning of unrelated code.
const RESERVED: &[&str] = &[
    "NULL",
    "alignas",
    "alignof",
    "and",
    "asm",
    "assert",
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "define",
    "defined",
    "delete",
    "device",
    "do",
    "double",
    "else",
    "endif",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "half",
    "if",
    "ifdef",
    "ifndef",
    "include",
    "inline",
    "int",
    "int32_t",
    "int64_t",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "nullptr",
    "operator",
    "or",
    "pragma",
    "private",
    "protected",
    "public",
    "register",
    "return",
    "short",
    "signed",
    "size_t",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typename",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "undef",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "xor",
    "atomicAdd",
    "blockDim",
    "blockIdx",
    "dim3",
    "float2",
    "float4",
    "gridDim",
    "threadIdx",
    "warpSize",
];

/// The reason why a name cannot be a macro of the source; `None` if it can.
pub(super) fn reason(name: &str) -> Option<&'static str> {
    if RESERVED.contains(&name) {
        return Some("a word of the kernel language");
    }
    let lower = name.to_ascii_lowercase();
    if lower.starts_with("kiln_") {
        return Some("a name of Kiln's own");
    }
    if name.starts_with("__") || name.contains("__") {
        return Some("a name of the compiler's own, because of `__`");
    }
    if crate::model::ElemType::from_name(name).is_some() {
        return Some("an element type");
    }
    None
}
