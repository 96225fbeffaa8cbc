//! Recognises host code by the names in it.

use std::collections::BTreeSet;

use super::parts::MacroDefinition;
use super::reach::Unit;

/// Types of C and of CUDA's runtime that no compiler for GPUs has.
const CERTAIN_TYPES: &[&str] = &[
    "FILE",
    "cudaDeviceProp",
    "cudaEvent_t",
    "cudaStream_t",
    "hipDeviceProp_t",
    "hipEvent_t",
    "hipStream_t",
];

/// Types of the standard library that kernels cannot use, and the namespace of PyTorch. A kernel's own code may have
/// other meanings for these names.
const LIKELY_TYPES: &[&str] = &[
    "fstream",
    "ifstream",
    "istream",
    "istringstream",
    "mutex",
    "ofstream",
    "ostream",
    "ostringstream",
    "shared_ptr",
    "string",
    "string_view",
    "stringstream",
    "torch",
    "unique_ptr",
    "unordered_map",
    "vector",
];

/// Containers of the standard library whose names are common words.
const CONTAINERS: &[&str] = &["deque", "function", "list", "map", "set", "thread"];

/// Functions of the standard library and of POSIX that kernels cannot call, and streams.
const FUNCTIONS: &[&str] = &[
    "atof",
    "atoi",
    "cerr",
    "chrono",
    "cout",
    "exit",
    "fopen",
    "fprintf",
    "getenv",
    "getopt",
    "gettimeofday",
    "rand",
    "srand",
    "system",
];

/// The names that a source declares itself.
#[derive(Debug, Default)]
pub struct OwnNames<'s> {
    /// The names of classes and enumerations.
    pub types: BTreeSet<&'s str>,
    /// The names of all declarations, except `using` declarations.
    pub all: BTreeSet<&'s str>,
}

/// Whether a name is one of a type that kernels cannot use. `has_std` is whether `std` occurs too.
pub fn is_type(name: &str, has_std: bool) -> bool {
    CERTAIN_TYPES.contains(&name)
        || LIKELY_TYPES.contains(&name)
        || has_std && CONTAINERS.contains(&name)
}

/// Whether a name is one of the functions of CUDA's runtime, or of HIP's, that manage memory and devices.
fn is_of_runtime(name: &str) -> bool {
    const STARTS: [&str; 9] = [
        "Device", "Event", "Free", "Func", "Get", "Launch", "Malloc", "Memcpy", "Memset",
    ];
    let name = { name.strip_prefix("cuda") }.or_else(|| name.strip_prefix("hip"));
    name.is_some_and(|name| STARTS.iter().any(|start| name.starts_with(start)))
}

/// Whether a declaration that is not marked `__device__` is certainly host code: no compiler for GPUs accepts it.
pub fn is_certain(unit: &Unit) -> bool {
    let is_main = unit.declares.contains("main");
    unit.defines_function && (is_main || unit.launch.is_some())
        || unit.all.iter().any(|name| is_of_runtime(name))
        || CERTAIN_TYPES.iter().any(|name| unit.head.contains(*name))
}

/// Whether a declaration that is not marked `__device__` is host code, in a source that has host code. `called` are the
/// macros that the declaration calls.
pub fn is_likely(unit: &Unit, called: &[&MacroDefinition], own: &OwnNames<'_>) -> bool {
    let has_std = unit.head.contains("std");
    let is_constant = unit.head.contains("constexpr") || unit.head.contains("consteval");
    let is_host_type = |name: &str| is_type(name, has_std) && !own.types.contains(name);
    let is_host_function =
        |name: &str| is_of_runtime(name) || FUNCTIONS.contains(&name) && !own.all.contains(name);
    let takes_host_type = || unit.head.iter().any(|name| is_host_type(name));
    let does_host_work =
        || unit.launch.is_some() || unit.all.iter().any(|name| is_host_function(name));
    let expands_to_host_code = || {
        let is_device = called.iter().any(|m| m.mentions.contains("__device__"));
        let is_host = |m: &&MacroDefinition| {
            let mut names = m.mentions.iter();
            m.launches || names.any(|name| is_host_function(name) || is_type(name, false))
        };
        !is_device && called.iter().any(is_host)
    };
    !is_constant && takes_host_type()
        || !unit.is_class() && does_host_work()
        || expands_to_host_code()
}
