//! Determines which names a kernel can reach in its source. If it reaches a barrier, the `cpu` device runs its threads
//! as fibres.

use std::collections::BTreeSet;
use std::ops::Range;

use super::error::Location;
use super::parts::MacroDefinition;

/// A declaration at file or namespace scope, as the sets of names in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Names outside the declaration's braces: the names that it declares, and the names of its types.
    pub head: BTreeSet<String>,
    /// All names in the declaration.
    pub all: BTreeSet<String>,
    /// The names that the declaration declares.
    pub declares: BTreeSet<String>,
    /// Whether the declaration is a function with its body.
    pub defines_function: bool,
    /// Whether the declaration is at file scope, under a condition with `__CUDA_ARCH__`.
    pub depends_on_architecture: bool,
    /// The byte range of the declaration.
    pub range: Range<usize>,
    /// The file and line of the first `kernel<<<..>>>(..)` in the declaration.
    pub launch: Option<Location>,
    /// The name of the kernel that the declaration defines, if it defines one.
    pub kernel: Option<String>,
}

/// Names whose use means that the threads of a block wait for each other. A name with a trailing `*` is a prefix.
const BARRIERS: &[&str] = &[
    "__syncthreads*",
    "__syncwarp",
    "__barrier_sync*",
    "__shfl*",
    "__ballot*",
    "__any*",
    "__all*",
    "__activemask",
    "__match_*",
    "__reduce_*",
    "cooperative_groups",
    "cub",
    // Functions of `kiln.cuh` that wait for other threads of the block.
    "shuffle",
    "shuffle_down",
    "shuffle_up",
    "shuffle_words",
    "shuffle_xor",
    "warp_all",
    "warp_any",
    "warp_ballot",
    "warp_broadcast",
    "warp_max",
    "warp_min",
    "warp_reduce",
    "warp_sum",
    "block_broadcast",
    "block_max",
    "block_min",
    "block_reduce",
    "block_sum",
    "mma",
    "tile_acc",
    "tile_reduce_rows",
    "tile_to_a",
    "nvcuda",
    "wmma",
];

fn is_barrier(name: &str) -> bool {
    BARRIERS
        .iter()
        .any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == *pattern,
        })
}

impl Unit {
    /// Whether the declaration is a class or an enumeration, perhaps with variables of its type.
    pub fn is_class(&self) -> bool {
        let words = ["class", "enum", "struct", "union"];
        !self.defines_function && words.iter().any(|word| self.head.contains(*word))
    }

    /// Whether the declaration affects code that does not name it, as `using` directives and operators do.
    fn is_implicit(&self) -> bool {
        self.head.contains("using") || self.head.contains("operator")
    }
}

/// The barriers that `roots` use, directly or through declarations and macros that are reached by name.
///
/// A declaration counts as reached if reached code uses a name that occurs outside the declaration's braces. The result
/// may therefore contain barriers that are never called, but it misses none.
pub fn reached_barriers<'s>(
    roots: impl Iterator<Item = &'s Unit>,
    units: &'s [Unit],
    macros: &'s [MacroDefinition],
) -> Vec<&'s str> {
    let mut reached = reachable(roots, units, macros, |_| false);
    reached.retain(|name| is_barrier(name));
    reached.into_iter().collect()
}

/// Words that occur in many declarations. They are not followed, because then every declaration would lead to all
/// others.
const COMMON: &[&str] = &[
    "__device__",
    "__forceinline__",
    "__host__",
    "__inline__",
    "__noinline__",
    "__restrict__",
    "auto",
    "bool",
    "char",
    "class",
    "const",
    "constexpr",
    "double",
    "float",
    "half",
    "__half",
    "inline",
    "int",
    "long",
    "short",
    "signed",
    "static",
    "struct",
    "template",
    "typename",
    "unsigned",
    "void",
];

/// Whether a name occurs in too many declarations to identify one.
pub fn is_common(name: &str) -> bool {
    COMMON.contains(&name)
}

/// Every name that `roots` use, directly or through declarations and macros that are reached by name. If `is_skipped`
/// returns `true` for a name, that name is in the result but is not followed.
pub fn reachable<'s>(
    roots: impl Iterator<Item = &'s Unit>,
    units: &'s [Unit],
    macros: &'s [MacroDefinition],
    is_skipped: impl Fn(&str) -> bool,
) -> BTreeSet<&'s str> {
    let helpers: Vec<_> = units.iter().filter(|unit| unit.kernel.is_none()).collect();
    let implicit = helpers.iter().filter(|unit| unit.is_implicit()).copied();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let mut pending: Vec<&str> = roots
        .chain(implicit)
        .flat_map(|unit| unit.all.iter().map(String::as_str))
        .collect();
    while let Some(name) = pending.pop() {
        if !known.insert(name) || is_skipped(name) {
            continue;
        }
        let reached = helpers.iter().filter(|unit| unit.head.contains(name));
        pending.extend(reached.flat_map(|unit| unit.all.iter().map(String::as_str)));
        let expanded = macros.iter().filter(|m| m.name == name);
        pending.extend(expanded.flat_map(|m| m.mentions.iter().map(String::as_str)));
    }
    known
}
