//! Removes what the kernels of a source do not need, so that host code is not compiled.
//!
//! The names in a declaration decide. If code that is needed contains a name, all declarations of this name are needed,
//! whatever their scope. The result may therefore contain too much, but code that is left out is not named by the rest.
//! Declarations that code uses without naming them, such as operators, always stay, except those of host code.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::edit::Edits;
use super::entry_path::EntryPath;
use super::error::SourceError;
use super::flatten::{ONCE_GUARD, SourceText};
use super::host_code::{self, OwnNames};
use super::host_headers::is_for_hosts;
use super::kernel_function::KernelFunction;
use super::lexer::lex;
use super::parts::{Include, MacroDefinition};
use super::reach::{Unit, is_common};
use super::scan::SourceScan;

/// Namespaces of headers for device code.
const DEVICE_NAMESPACES: &[&str] = &[
    "cooperative_groups",
    "cub",
    "cuda",
    "hipcub",
    "kiln",
    "nvcuda",
    "std",
];

/// Functions that statements call without naming them: `for` over a range, and structured bindings.
const IMPLICIT_FUNCTIONS: &[&str] = &["begin", "end", "get"];

/// Removes what the entries do not need from a source with host code: headers for host code, other kernels, and
/// declarations that no entry names directly or through others. Line breaks and other directives stay. Returns the
/// reduced source and its scan.
///
/// A source without host code is returned as it is. So is a source whose form the scan cannot follow, and a source in
/// which one of the entries cannot be tuned; [`SourceScan::entry`] reports the reason.
///
/// # Errors
/// Those of [`SourceScan::new`].
pub fn reduce(
    source: SourceText,
    entries: &BTreeSet<&str>,
) -> Result<(SourceText, SourceScan), SourceError> {
    let are_in = |scan: &SourceScan| entries.iter().all(|entry| scan.entry(entry).is_ok());
    let scan = SourceScan::new(&source)?;
    let slice = Slice::new(&scan, source.text());
    if !slice.has_host_code() || !are_in(&scan) {
        return Ok((source, scan));
    }
    let Some(unneeded) = slice.unneeded(entries) else {
        return Ok((source, scan));
    };
    let text = source.text();
    let mut edits = Edits::default();
    for range in unneeded {
        edits.blank_code(text, &range, &scan.directives);
    }
    // A source that tests Kiln's macros was written with Kiln in mind. Kiln itself writes a test for `#pragma once`.
    let knows_kiln =
        scan.tests_any(|name| name.starts_with("KILN") && !name.starts_with(ONCE_GUARD));
    let left_out =
        |include: &&Include| is_for_hosts(&include.header) && !(include.conditional && knows_kiln);
    for include in scan.includes.iter().filter(left_out) {
        edits.blank(text, include.range.clone());
    }
    let reduced = source.with_text(edits.apply(text));
    match SourceScan::new(&reduced) {
        Ok(rest) if are_in(&rest) => Ok((reduced, rest)),
        _ => Ok((source, scan)),
    }
}

/// The declarations of a source, and which of them are needed so far.
struct Slice<'s> {
    scan: &'s SourceScan,
    text: &'s str,
    own: OwnNames<'s>,
    /// For each name, the declarations that are needed if the name is.
    keys: BTreeMap<&'s str, Vec<usize>>,
    macros: BTreeMap<&'s str, Vec<&'s MacroDefinition>>,
    /// The declarations that are needed whatever the kernel names.
    always: Vec<usize>,
    needed: Vec<bool>,
    /// The names in the code that is needed.
    known: BTreeSet<String>,
    /// Whether code that is needed uses a macro with `##`.
    joins_tokens: bool,
}

impl<'s> Slice<'s> {
    fn new(scan: &'s SourceScan, text: &'s str) -> Slice<'s> {
        let mut slice = Slice {
            scan,
            text,
            own: own_names(&scan.units),
            keys: BTreeMap::new(),
            macros: BTreeMap::new(),
            always: Vec::new(),
            needed: vec![false; scan.units.len()],
            known: BTreeSet::new(),
            joins_tokens: false,
        };
        for found in &scan.macros {
            slice.macros.entry(&found.name).or_default().push(found);
        }
        for (i, unit) in scan.units.iter().enumerate() {
            if unit.kernel.is_some() {
                // The tokens next to another kernel, such as the call of a macro before it, stay.
                if !scan.kernels.iter().any(|kernel| kernel.range == unit.range) {
                    slice.always.push(i);
                }
            } else if !slice.is_for_hosts(unit) {
                match slice.keys_of(unit) {
                    Some(keys) => {
                        for key in keys.into_iter().filter(|key| !is_common(key)) {
                            slice.keys.entry(key).or_default().push(i);
                        }
                    }
                    None => slice.always.push(i),
                }
            }
        }
        slice
    }

    /// Whether the source certainly has host code. Otherwise nothing may be left out.
    fn has_host_code(&self) -> bool {
        let mut includes = self.scan.includes.iter();
        let is_host = |unit: &Unit| {
            !self.is_marked(unit, "__device__")
                && (self.is_marked_for_hosts(unit) || host_code::is_certain(unit))
        };
        let mut others = { self.scan.units.iter() }.filter(|unit| unit.kernel.is_none());
        includes.any(|include| !include.conditional && is_for_hosts(&include.header))
            || others.any(is_host)
    }

    /// The byte ranges of the declarations that the entries do not need, and of the other kernels. No two of them
    /// overlap. `None` if an entry is not a declaration of its own, because then the scan did not understand the source.
    fn unneeded(mut self, entries: &BTreeSet<&str>) -> Option<Vec<Range<usize>>> {
        let names: BTreeSet<&str> = entries.iter().map(|e| EntryPath::base_name(e)).collect();
        let kernels = self.scan.kernels.iter();
        for kernel in kernels.filter(|kernel| names.contains(kernel.name.as_str())) {
            let mut units = self.scan.units.iter();
            let unit = units.find(|unit| unit.range.contains(&kernel.name_range.start))?;
            let inside = { self.scan.kernels.iter() }
                .filter(|other| unit.range.contains(&other.name_range.start));
            if inside.filter(|other| other.body_open.is_some()).count() > 1 {
                return None;
            }
        }
        for entry in entries {
            self.follow_entry(entry);
        }
        let units = self.scan.units.iter().zip(&self.needed);
        let left_out =
            units.filter(|&(unit, &needed)| !needed && unit.kernel.is_none() && !self.stays(unit));
        let others = self.scan.kernels.iter();
        let others = others.filter(|kernel| !names.contains(kernel.name.as_str()));
        let ranges = left_out.map(|(unit, _)| unit.range.clone());
        let ranges = ranges.chain(others.map(|kernel| kernel.range.clone()));
        Some(merged(ranges.collect()))
    }

    /// Marks what the entry needs.
    fn follow_entry(&mut self, entry: &str) {
        let path = EntryPath::parse(entry);
        let name = EntryPath::base_name(entry);
        let is_root = |&i: &usize| self.scan.units[i].kernel.as_deref() == Some(name);
        let roots = (0..self.scan.units.len()).filter(is_root);
        let roots: Vec<usize> = roots.chain(self.always.iter().copied()).collect();
        let mut pending: Vec<String> = path.iter().flat_map(EntryPath::argument_names).collect();
        for root in roots {
            self.needed[root] = true;
            let unit = &self.scan.units[root];
            let parameters = self.own_parameters(unit);
            let names = unit.all.iter().filter(|name| !parameters.contains(*name));
            pending.extend(names.cloned());
        }
        while !pending.is_empty() {
            self.follow(pending);
            pending = self.joined();
        }
    }

    /// The names that mean only parameters in a declaration of a kernel, so that they need no other declaration.
    fn own_parameters(&self, unit: &Unit) -> BTreeSet<&'s String> {
        let inside = |kernel: &&KernelFunction| unit.range.contains(&kernel.name_range.start);
        let mut kernels = self.scan.kernels.iter().filter(inside);
        let (Some(kernel), None) = (kernels.next(), kernels.next()) else {
            return BTreeSet::new();
        };
        let text = &self.text[unit.range.clone()];
        let tokens = lex(text).unwrap_or_default();
        let body = kernel.body_open.unwrap_or(unit.range.end) - unit.range.start;
        let is_own = |name: &&String| {
            let uses = (0..tokens.len()).filter(|&i| tokens[i].is_name(text, name));
            // The signature may also use the name for a type, and `ns::name` is another declaration.
            let (signature, body): (Vec<_>, Vec<_>) = uses.partition(|&i| tokens[i].end <= body);
            let is_scoped = |i: usize| i > 1 && (i - 2..i).all(|j| tokens[j].is_punct(b':'));
            signature.len() == 1
                && !body.into_iter().any(is_scoped)
                && !self.macros.contains_key(name.as_str())
        };
        let names = kernel.params.iter().map(|param| &param.name);
        names.filter(is_own).collect()
    }

    /// Marks what these names need, directly or through others.
    fn follow(&mut self, mut pending: Vec<String>) {
        while let Some(name) = pending.pop() {
            if self.known.contains(&name) {
                continue;
            }
            for found in self.macros.get(name.as_str()).into_iter().flatten() {
                self.joins_tokens |= found.joins_tokens;
                pending.extend(found.mentions.iter().cloned());
            }
            for &i in self.keys.get(name.as_str()).into_iter().flatten() {
                if !std::mem::replace(&mut self.needed[i], true) {
                    pending.extend(self.scan.units[i].all.iter().cloned());
                }
            }
            self.known.insert(name);
        }
    }

    /// The names of declarations and macros that a macro with `##` may produce: those that begin with a known name.
    fn joined(&self) -> Vec<String> {
        let begins = |key: &&&str| self.known.iter().any(|name| key.starts_with(name.as_str()));
        let names = self.keys.keys().chain(self.macros.keys());
        let unknown = names.filter(|key| !self.known.contains(**key));
        let joined = unknown.filter(|_| self.joins_tokens).filter(begins);
        joined.map(|key| (*key).to_owned()).collect()
    }

    /// The names with which a declaration is needed. `None` if it is always needed.
    fn keys_of(&self, unit: &'s Unit) -> Option<BTreeSet<&'s str>> {
        let is_implicit = unit.head.contains("operator")
            || IMPLICIT_FUNCTIONS
                .iter()
                .any(|name| unit.declares.contains(*name));
        let is_alias = unit.head.contains("namespace") && !unit.head.contains("using");
        let is_alias_of_namespace = is_alias && { unit.head.iter() }
            .any(|name| !unit.declares.contains(name) && self.is_namespace(name));
        // Nothing names the members of a union without a name. A macro may declare anything.
        let in_head = self.expanded(&unit.head);
        let is_macro = in_head
            .iter()
            .any(|found| !found.takes_arguments && found.is_code);
        if is_implicit
            || is_alias_of_namespace
            || is_macro
            || unit.declares.is_empty()
            || !self.called(unit).is_empty()
        {
            return None;
        }
        let mut keys: BTreeSet<&str> = unit.declares.iter().map(String::as_str).collect();
        keys.remove("static_assert");
        for found in self.expanded(&unit.declares) {
            keys.extend(found.mentions.iter().map(String::as_str));
        }
        Some(keys)
    }

    /// The macros with parameters that a declaration calls where it could declare a name, and the macros in their
    /// expansions.
    fn called(&self, unit: &Unit) -> Vec<&'s MacroDefinition> {
        let calls = |name: &&String| {
            let mut definitions = self.macros.get(name.as_str()).into_iter().flatten();
            definitions.any(|found| found.takes_arguments)
        };
        let called: BTreeSet<String> = unit.declares.iter().filter(calls).cloned().collect();
        self.expanded(&called)
    }

    /// The macros that expand these names, and the macros in their expansions.
    fn expanded(&self, names: &BTreeSet<String>) -> Vec<&'s MacroDefinition> {
        let mut found: Vec<&MacroDefinition> = Vec::new();
        let mut pending: Vec<&str> = names.iter().map(String::as_str).collect();
        while let Some(name) = pending.pop() {
            for &definition in self.macros.get(name).into_iter().flatten() {
                if !found.iter().any(|known| known.range == definition.range) {
                    found.push(definition);
                    pending.extend(definition.mentions.iter().map(String::as_str));
                }
            }
        }
        found
    }

    /// Whether a declaration has a specifier, directly or by a macro.
    fn is_marked(&self, unit: &Unit, specifier: &str) -> bool {
        let mut macros = self.expanded(&unit.head).into_iter();
        unit.head.contains(specifier) || macros.any(|m| m.mentions.contains(specifier))
    }

    /// Whether a declaration is marked `__host__`. Constant expressions of device code may use a `constexpr` function
    /// with this mark.
    fn is_marked_for_hosts(&self, unit: &Unit) -> bool {
        self.is_marked(unit, "__host__") && !unit.head.contains("constexpr")
    }

    /// Whether device code cannot use a declaration of a source with host code.
    fn is_for_hosts(&self, unit: &Unit) -> bool {
        !self.is_marked(unit, "__device__")
            && (self.is_marked_for_hosts(unit)
                || host_code::is_likely(unit, &self.called(unit), &self.own))
    }

    /// Whether a declaration stays although no name leads to it: a `using` directive for a namespace that exists, or
    /// an assertion about declarations that are needed.
    fn stays(&self, unit: &Unit) -> bool {
        if unit.head.contains("using") && unit.head.contains("namespace") {
            // `std` has more namespaces for host code than for kernels, such as `std::chrono`.
            let names = unit.head.iter();
            let names: Vec<_> = names
                .filter(|name| *name != "using" && *name != "namespace")
                .collect();
            let is_part = names.len() > 1;
            let is_known = |name: &String| self.is_namespace(name) && !(is_part && name == "std");
            return names.into_iter().any(is_known);
        }
        let is_left_out = |name: &String| {
            let mut units = self.keys.get(name.as_str()).into_iter().flatten();
            units.any(|&i| !self.needed[i]) || host_code::is_type(name, unit.all.contains("std"))
        };
        unit.head.contains("static_assert") && !unit.all.iter().any(is_left_out)
    }

    /// Whether a namespace has this name, in the source or in headers for device code.
    fn is_namespace(&self, name: &String) -> bool {
        let is_alias = |i: &usize| {
            let unit = &self.scan.units[*i];
            unit.head.contains("namespace") && unit.declares.contains(name)
        };
        let mut aliases = self.always.iter();
        DEVICE_NAMESPACES.contains(&name.as_str())
            || self.scan.namespaces.contains(name)
            || aliases.any(is_alias)
    }
}

/// The names that these declarations declare.
fn own_names(units: &[Unit]) -> OwnNames<'_> {
    let mut own = OwnNames::default();
    for unit in units.iter().filter(|unit| !unit.head.contains("using")) {
        let names = || unit.declares.iter().map(String::as_str);
        own.all.extend(names());
        if unit.is_class() {
            own.types.extend(names());
        }
    }
    own
}

/// These ranges in order. Ranges that overlap become one.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut().filter(|last| range.start < last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
#[path = "slice_tests.rs"]
mod tests;
