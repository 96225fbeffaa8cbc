//! Selects the standard headers that a source uses without including them.

use crate::source::SourceScan;

/// Headers with names that they declare.
const HEADERS: &[(&str, &[&str])] = &[
    ("cassert", &["assert"]),
    (
        "cfloat",
        &[
            "DBL_DIG",
            "DBL_EPSILON",
            "DBL_MANT_DIG",
            "DBL_MAX",
            "DBL_MIN",
            "FLT_DIG",
            "FLT_EPSILON",
            "FLT_MANT_DIG",
            "FLT_MAX",
            "FLT_MIN",
        ],
    ),
    (
        "climits",
        &[
            "CHAR_BIT",
            "CHAR_MAX",
            "CHAR_MIN",
            "INT_MAX",
            "INT_MIN",
            "LLONG_MAX",
            "LLONG_MIN",
            "LONG_MAX",
            "LONG_MIN",
            "SCHAR_MAX",
            "SCHAR_MIN",
            "SHRT_MAX",
            "SHRT_MIN",
            "UCHAR_MAX",
            "UINT_MAX",
            "ULLONG_MAX",
            "ULONG_MAX",
            "USHRT_MAX",
        ],
    ),
    (
        "cstdint",
        &[
            "INT8_MAX",
            "INT8_MIN",
            "INT16_MAX",
            "INT16_MIN",
            "INT32_MAX",
            "INT32_MIN",
            "INT64_MAX",
            "INT64_MIN",
            "UINT8_MAX",
            "UINT16_MAX",
            "UINT32_MAX",
            "UINT64_MAX",
        ],
    ),
    ("cstring", &["memcmp", "memcpy", "memmove", "memset"]),
];

/// Headers with names that they declare in the namespace `std`.
const HEADERS_OF_STD: &[(&str, &[&str])] = &[
    (
        "algorithm",
        &[
            "clamp",
            "copy",
            "fill",
            "lower_bound",
            "max",
            "min",
            "upper_bound",
        ],
    ),
    ("cmath", &["std"]),
    ("cstddef", &["ptrdiff_t", "size_t"]),
    (
        "cstdint",
        &[
            "int8_t",
            "int16_t",
            "int32_t",
            "int64_t",
            "intptr_t",
            "uint8_t",
            "uint16_t",
            "uint32_t",
            "uint64_t",
            "uintptr_t",
        ],
    ),
    ("limits", &["numeric_limits"]),
    ("utility", &["std"]),
];

/// The standard headers whose names a source uses. With nvcc, a source need not include them, because CUDA's own headers
/// or headers for host code do. Names of macros that the source defines do not count. If the source itself declares
/// names in the namespace `std`, it gets none of the headers of `std`.
pub(super) fn of(scan: &SourceScan) -> impl Iterator<Item = &'static str> {
    let uses_std = scan.mentions("std") && !scan.opens_namespace("std");
    let of_std = HEADERS_OF_STD.iter().filter(move |_| uses_std);
    let is_own = |name: &str| scan.macros().iter().any(|found| found.name == name);
    let used = move |name: &&str| scan.mentions(name) && !is_own(name);
    let headers = HEADERS.iter().chain(of_std);
    let headers = headers.filter(move |(_, names)| names.iter().any(used));
    headers.map(|(header, _)| *header)
}
