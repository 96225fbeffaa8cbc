//! Scans the tokens of a kernel source for the names that it declares and uses.

use std::collections::BTreeSet;
use std::ops::Range;

use super::constant::ConstantVariable;
use super::ctype::Aliases;
use super::entry::{Entry, EntryError, in_another_namespace, twice, unsupported, wrong_arguments};
use super::entry_path::EntryPath;
use super::error::Location;
use super::kernel_function::{KernelFunction, Obstacle};
use super::parts::{DynamicShared, Include, MacroDefinition, Unroll};
use super::reach::{Unit, is_common, reachable, reached_barriers};

/// The way in which the `cpu` device runs the threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The threads run one after another, in a loop that the compiler can vectorise. The kernel uses no barrier and no
    /// warp operation.
    Loop,
    /// Each thread runs as a fibre. The device switches between the fibres at barriers and warp operations.
    Fiber,
}

impl Mode {
    /// The mode of a kernel that can reach these barriers and warp operations.
    pub fn of<T>(barriers: &[T]) -> Mode {
        if barriers.is_empty() {
            Mode::Loop
        } else {
            Mode::Fiber
        }
    }
}

/// The names that a kernel source declares and uses.
///
/// A kernel that can be tuned is a `__global__ void` function at file scope, in a named namespace or in an `extern "C"`
/// block. Macros that hide `__global__` are already expanded in the text ([`super::SourceText`]). If the function is a
/// template, the spec names it with its template arguments. A kernel may have launch bounds, attributes, prototypes, and
/// several definitions whose `#if` conditions exclude each other. Other kernels in the same file may have any form.
///
/// Code is left out if the condition of its `#if` is false for every target and config, as in `#if 0` and `#ifndef
/// KILN`. Other conditions are not evaluated.
///
/// The following forms are not supported. If the tuned kernel has one of them, the scan reports it with its own
/// message:
///
/// - specialised templates
/// - anonymous namespaces
/// - `...`
/// - a directive inside the parameter list
/// - a parameter list that a macro produces
/// - two definitions that are compiled together
///
/// The source may contain host code, which [`reduce`](super::reduce) removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceScan {
    pub(super) kernels: Vec<KernelFunction>,
    pub(super) identifiers: BTreeSet<String>,
    /// Names for which a directive tests whether they are defined.
    pub(super) tested: BTreeSet<String>,
    pub(super) macros: Vec<MacroDefinition>,
    pub(super) includes: Vec<Include>,
    pub(super) directives: Vec<Range<usize>>,
    /// Code that is never compiled, and conditional directives whose conditions are known.
    pub(super) excluded: Vec<Range<usize>>,
    /// The names of kernels in code that is never compiled, each with its file and line.
    pub(super) dead: Vec<(String, Location)>,
    pub(super) unrolls: Vec<Unroll>,
    pub(super) dynamic_shared: Vec<DynamicShared>,
    pub(super) file_shared: Vec<Range<usize>>,
    /// Every type that `typedef`, `using` and `#define` give to a name.
    pub(super) aliases: Aliases,
    pub(super) constants: Vec<ConstantVariable>,
    pub(super) units: Vec<Unit>,
    /// The names of all namespaces that the source opens.
    pub(super) namespaces: BTreeSet<String>,
}

impl SourceScan {
    /// Every `__global__` function, in source order. A name may occur more than once.
    pub fn kernels(&self) -> &[KernelFunction] {
        &self.kernels
    }

    /// Whether the source declares this name at file or namespace scope. The answer is also `true` for a name that a
    /// declaration only uses outside its braces, for example as the type of a parameter.
    pub fn declares(&self, name: &str) -> bool {
        self.units.iter().any(|unit| unit.head.contains(name))
    }

    /// Whether the source opens a namespace with this name.
    pub fn opens_namespace(&self, name: &str) -> bool {
        self.namespaces.contains(name)
    }

    /// Whether code uses this name. Comments and strings do not count, nor do directives that only define the name or
    /// test whether it is defined.
    pub fn mentions(&self, name: &str) -> bool {
        self.identifiers.contains(name)
    }

    /// Whether a directive tests whether this name is defined, as in `#ifdef NAME`.
    pub fn is_tested(&self, name: &str) -> bool {
        self.tested.contains(name)
    }

    /// Whether code uses a name for which `is_wanted` returns `true`, or a directive tests such a name.
    pub fn tests_any(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        let mut names = self.tested.iter().chain(&self.identifiers);
        names.any(|name| is_wanted(name))
    }

    /// Every name that code uses.
    pub fn identifiers(&self) -> &BTreeSet<String> {
        &self.identifiers
    }

    /// Every `#define` and `#undef`.
    pub fn macros(&self) -> &[MacroDefinition] {
        &self.macros
    }

    /// The directives that define or undefine a macro for which `is_defined` returns `true`. `is_defined` returns `true`
    /// for the macros that Kiln defines before the source. A default under `#ifndef` does not count, nor does any other
    /// definition under a condition that such a macro is not defined.
    pub fn redefinitions(
        &self,
        is_defined: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = &MacroDefinition> {
        self.macros.iter().filter(move |found| {
            is_defined(&found.name)
                && (found.undef || !found.conditions.need_undefined(&is_defined))
        })
    }

    /// Every `#include` that is left in the expanded text.
    pub fn includes(&self) -> &[Include] {
        &self.includes
    }

    /// The byte range of every directive.
    pub fn directives(&self) -> &[Range<usize>] {
        &self.directives
    }

    /// The byte ranges of code that is never compiled, and of conditional directives whose conditions are known.
    pub fn excluded(&self) -> &[Range<usize>] {
        &self.excluded
    }

    /// The file and line of the first `kernel<<<..>>>(..)` in a kernel. Kiln does not compile code that launches
    /// kernels.
    pub fn launch_in(&self, entry: &str) -> Option<&Location> {
        let name = EntryPath::base_name(entry);
        let units = self.units.iter();
        let mut kernels = units.filter(|unit| unit.kernel.as_deref() == Some(name));
        kernels.find_map(|unit| unit.launch.as_ref())
    }

    /// Every `#pragma unroll`.
    pub fn unrolls(&self) -> &[Unroll] {
        &self.unrolls
    }

    /// The byte range of the word `__shared__` in every declaration outside a function, except `extern __shared__`.
    pub fn file_shared(&self) -> &[Range<usize>] {
        &self.file_shared
    }

    /// Every `extern __shared__` declaration.
    pub fn dynamic_shared(&self) -> &[DynamicShared] {
        &self.dynamic_shared
    }

    /// The kernel with this name (`kernel`, `space::kernel`, `kernel<float, 256>`), if it can be tuned.
    ///
    /// # Errors
    /// If there is no kernel with this name, or if it has an unsupported form.
    pub fn entry(&self, name: &str) -> Result<Entry<'_>, EntryError> {
        let path = EntryPath::parse(name).ok_or_else(|| self.unknown(name))?;
        let named = || self.kernels.iter().filter(|k| k.name == path.name);
        let has_template = named().any(|kernel| !kernel.is_instantiation);
        let sites: Vec<_> = named()
            .filter(|kernel| kernel.namespaces == path.namespaces)
            .filter(|kernel| !kernel.is_instantiation || !has_template)
            // A `friend` of a class. It is left out, like the other kernels.
            .filter(|kernel| {
                kernel.body_open.is_some() || kernel.obstacle != Some(Obstacle::Nested)
            })
            .collect();
        if sites.is_empty() {
            return Err(named()
                .next()
                .map_or_else(|| self.unknown(name), in_another_namespace));
        }
        if let Some(refused) = sites.iter().find_map(|site| unsupported(site)) {
            return Err(refused);
        }
        let arguments = path.arguments.as_deref();
        if let Some(refused) = sites
            .iter()
            .find_map(|site| wrong_arguments(site, arguments))
        {
            return Err(refused);
        }
        let defined = |site: &&&KernelFunction| site.body_open.is_some();
        let definitions: Vec<_> = sites.iter().filter(defined).copied().collect();
        let Some(first) = definitions.first() else {
            return Err(EntryError::Undefined {
                name: name.into(),
                at: sites[0].at.clone(),
            });
        };
        match twice(&definitions) {
            Some(error) => Err(error),
            None => Ok(Entry {
                name: &first.name,
                sites,
                arguments: path.arguments,
            }),
        }
    }

    fn unknown(&self, name: &str) -> EntryError {
        let names: BTreeSet<_> = self
            .kernels
            .iter()
            .map(|k| format!("`{}`", k.name))
            .collect();
        let found = if names.is_empty() {
            "none".to_owned()
        } else {
            names.into_iter().collect::<Vec<_>>().join(", ")
        };
        EntryError::Unknown {
            name: name.into(),
            found,
            help: self.help_for_unknown(EntryPath::base_name(name)),
        }
    }

    /// The help text for a kernel that the source does not have.
    fn help_for_unknown(&self, name: &str) -> String {
        if let Some((_, at)) = self.dead.iter().find(|(dead, _)| dead == name) {
            return format!(
                "the one at {at} is never compiled, because the condition of its `#if` is constant"
            );
        }
        let hiding = || {
            let macros = self.macros.iter();
            macros.filter(|found| found.mentions.contains("__global__"))
        };
        let Some(first) = hiding().next() else {
            return "name the kernel with `entry = \"..\"` if it differs from the launch function"
                .into();
        };
        let other = hiding().find(|other| other.name == first.name && other.at != first.at);
        match other {
            Some(other) => format!(
                "macro `{}` produces `__global__` functions, but Kiln does not know which of its definitions applies \
                 ({}, {}): define the macro once, or write `__global__` out",
                first.name, first.at, other.at
            ),
            None => format!(
                "macro `{}` ({}) produces `__global__` functions in a form that Kiln does not expand: write the \
                 kernel out",
                first.name, first.at
            ),
        }
    }

    /// The `__constant__` variables that an entry can reach by name.
    pub fn constants_of(&self, entry: &str) -> Vec<&ConstantVariable> {
        let name = EntryPath::base_name(entry);
        let roots = self
            .units
            .iter()
            .filter(|unit| unit.kernel.as_deref() == Some(name));
        // Do not follow declarations of `__constant__` variables. Otherwise a kernel that only shares a type with a
        // variable would seem to read the variable.
        let is_constant = |unit: &Unit| unit.head.contains("__constant__");
        let units: Vec<Unit> = self
            .units
            .iter()
            .filter(|unit| !is_constant(unit))
            .cloned()
            .collect();
        let reached = reachable(roots, &units, &self.macros, is_common);
        let constants = self.constants.iter();
        constants
            .filter(|constant| reached.contains(constant.name.as_str()))
            .collect()
    }

    /// Every `__constant__` variable at file or namespace scope.
    pub fn constants(&self) -> &[ConstantVariable] {
        &self.constants
    }

    /// How the `cpu` device runs a kernel: as fibres if the kernel can reach a barrier or a warp operation in the
    /// source, otherwise as a loop.
    pub fn mode(&self, entry: &str) -> Mode {
        Mode::of(&self.barriers(entry))
    }

    /// The names of the barriers and warp operations that an entry can reach.
    pub fn barriers(&self, entry: &str) -> Vec<&str> {
        let name = EntryPath::base_name(entry);
        let roots = self
            .units
            .iter()
            .filter(|unit| unit.kernel.as_deref() == Some(name));
        reached_barriers(roots, &self.units, &self.macros)
    }
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
