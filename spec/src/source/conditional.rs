//! Tracks the `#if` groups around a place, without evaluating them.

/// Prefix of the guards that replace `#pragma once` in a flattened source.
pub(super) const ONCE_GUARD: &str = "KILN_ONCE_";

/// One open `#if` group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionalFrame {
    /// The number of the group, counted from the start of the source.
    group: usize,
    /// The branch: 0 for `#if`, incremented by each `#elif` or `#else`.
    branch: usize,
    /// The name in `#ifndef NAME` or `#if !defined(NAME)`, while in branch 0.
    guard: Option<String>,
}

/// The open groups, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenConditionals(Vec<ConditionalFrame>);

impl OpenConditionals {
    /// Enters a group.
    pub fn open(&mut self, group: usize, guard: Option<String>) {
        let branch = 0;
        self.0.push(ConditionalFrame {
            group,
            branch,
            guard,
        });
    }

    /// Moves to the next branch; `false` if no group is open.
    pub fn next_branch(&mut self) -> bool {
        self.0.last_mut().is_some_and(|frame| {
            frame.branch += 1;
            frame.guard = None;
            true
        })
    }

    /// Leaves a group; `false` if none is open.
    pub fn close(&mut self) -> bool {
        self.0.pop().is_some()
    }

    /// Whether no group is open.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every open group is the guard of a file with `#pragma once`, which is true for the first inclusion.
    pub fn hold_at_first(&self) -> bool {
        let mut guards = self.0.iter().map(|frame| frame.guard.as_deref());
        guards.all(|guard| guard.is_some_and(|name| name.starts_with(ONCE_GUARD)))
    }

    /// The number of open groups.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// Whether this place is compiled only if `name` was not defined before.
    pub fn guards(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|frame| frame.guard.as_deref() == Some(name))
    }

    /// Whether at most one of two places is compiled: they are in different branches of one group, or both under a
    /// guard with the same name.
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
