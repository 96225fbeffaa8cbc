//! The `#if` groups around a place, without evaluating them.

/// How the guards begin that stand for `#pragma once` in a flattened source.
pub(super) const ONCE_GUARD: &str = "KILN_ONCE_";

/// One open `#if` group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionalFrame {
    /// Counts groups from the start of the source.
    group: usize,
    /// Which branch: 0 for `#if`, then one more for each `#elif` or `#else`.
    branch: usize,
    /// The name in `#ifndef NAME` or `#if !defined(NAME)`, while in branch 0.
    guard: Option<String>,
}

/// The groups that are open, outermost first.
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

    /// Moves to the next branch; `false` when no group is open.
    pub fn next_branch(&mut self) -> bool {
        self.0.last_mut().is_some_and(|frame| {
            frame.branch += 1;
            frame.guard = None;
            true
        })
    }

    /// Leaves a group; `false` when none is open.
    pub fn close(&mut self) -> bool {
        self.0.pop().is_some()
    }

    /// Whether no group is open.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every open group is the guard of a file with `#pragma once`, which the first of its inclusions passes.
    pub fn hold_at_first(&self) -> bool {
        let mut guards = self.0.iter().map(|frame| frame.guard.as_deref());
        guards.all(|guard| guard.is_some_and(|name| name.starts_with(ONCE_GUARD)))
    }

    /// How many groups are open.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// Whether this place is compiled only where `name` was not defined before.
    pub fn guards(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|frame| frame.guard.as_deref() == Some(name))
    }

    /// Whether at most one of two places is compiled: other branches of one group, or both under a
    /// guard of the same name.
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
