//! Determines what a kernel can reach in its source, to decide whether it needs fibres on the cpu device.

use std::collections::BTreeSet;

use super::parts::MacroDefinition;

/// One declaration at file or namespace scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Names outside its braces: the names it declares, and its types.
    pub head: BTreeSet<String>,
    /// All names.
    pub all: BTreeSet<String>,
    /// The kernel it defines.
    pub kernel: Option<String>,
}

/// Names whose use means that threads of a block wait for each other. A trailing `*` matches the rest.
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
    // Functions of kiln.cuh of this kind.
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
    /// Whether code uses it without naming it: `using` directives and operators.
    fn is_implicit(&self) -> bool {
        self.head.contains("using") || self.head.contains("operator")
    }
}

/// The barriers that any of `roots`, or a declaration or macro that they reach by name, uses.
///
/// A declaration is reached if a name outside its braces is used: this includes more than is called, never less.
pub fn reached_barriers<'s>(
    roots: impl Iterator<Item = &'s Unit>,
    units: &'s [Unit],
    macros: &'s [MacroDefinition],
) -> Vec<&'s str> {
    let mut reached = reachable(roots, units, macros, |_| false);
    reached.retain(|name| is_barrier(name));
    reached.into_iter().collect()
}

/// Words that many declarations share, so that they would lead from one to all others.
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

/// Whether a name is too common to identify a declaration.
pub fn is_common(name: &str) -> bool {
    COMMON.contains(&name)
}

/// Every name that `roots` use, or a declaration or macro that they reach by a name that is not skipped.
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
