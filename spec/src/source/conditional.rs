//! Tracks the `#if` groups that enclose a position in a source, without evaluating their conditions.

/// Prefix of the include guards that replace `#pragma once` in a flattened source.
pub(super) const ONCE_GUARD: &str = "KILN_ONCE_";

/// An `#if` group that is open at a position of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionalFrame {
    /// The number of the group in the order of the source.
    group: usize,
    /// The branch of the group: 0 after `#if`, one more after each `#elif` or `#else`.
    branch: usize,
    /// The name in `#ifndef NAME` or `#if !defined(NAME)`. `None` for other conditions and in later branches.
    guard: Option<String>,
}

/// The groups that are open at a position of the source, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenConditionals(Vec<ConditionalFrame>);

impl OpenConditionals {
    /// Opens a group. `guard` is the name in `#ifndef NAME` or `#if !defined(NAME)`, if the group begins with such a
    /// condition.
    pub fn open(&mut self, group: usize, guard: Option<String>) {
        let branch = 0;
        self.0.push(ConditionalFrame {
            group,
            branch,
            guard,
        });
    }

    /// Continues with the next branch of the innermost group. Returns `false` if no group is open.
    pub fn next_branch(&mut self) -> bool {
        self.0.last_mut().is_some_and(|frame| {
            frame.branch += 1;
            frame.guard = None;
            true
        })
    }

    /// Closes the innermost group. Returns `false` if no group is open.
    pub fn close(&mut self) -> bool {
        self.0.pop().is_some()
    }

    /// Whether no group is open.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every open group is the guard of a file with `#pragma once`. Such a condition is true for the first
    /// inclusion.
    pub fn hold_at_first(&self) -> bool {
        let mut guards = self.0.iter().map(|frame| frame.guard.as_deref());
        guards.all(|guard| guard.is_some_and(|name| name.starts_with(ONCE_GUARD)))
    }

    /// The number of open groups.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// Whether this position is compiled only if `name` is not defined before.
    pub fn guards(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|frame| frame.guard.as_deref() == Some(name))
    }

    /// Whether the compiler is known to see at most one of two positions, because they are in different branches of one
    /// group, or because both are under a guard with the same name.
    pub fn excludes(&self, other: &OpenConditionals) -> bool {
        self.0.iter().any(|frame| {
            other.0.iter().any(|theirs| {
                let branches = frame.group == theirs.group && frame.branch != theirs.branch;
                let guards = frame.group != theirs.group
                    && frame.guard.is_some()
                    && frame.guard == theirs.guard;
                branches || guards
            })
        })
    }
}
