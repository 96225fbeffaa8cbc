//! Tracks which `#if` groups enclose a position in a source, without evaluating their conditions.

/// An `#if` group that is open at a position of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionalFrame {
    /// The number of the group in the order of the source.
    group: usize,
    /// The branch of the group: 0 after `#if`, one more after each `#elif` or `#else`.
    branch: usize,
    /// The names that must not be defined for the branch to be compiled, as in `#ifndef NAME` or `#if !defined(A) &&
    /// !defined(B)`. Empty for other conditions and in later branches.
    guards: Vec<String>,
    /// Whether the group is an include guard: `#ifndef NAME`, directly followed by `#define NAME`.
    is_include_guard: bool,
}

/// The groups that are open at a position of the source, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenConditionals(Vec<ConditionalFrame>);

impl OpenConditionals {
    /// Opens a group. `guards` are the names in its condition if the condition has the form `#ifndef NAME` or `#if
    /// !defined(A) && !defined(B)`.
    pub fn open(&mut self, group: usize, guards: Vec<String>) {
        self.0.push(ConditionalFrame {
            group,
            branch: 0,
            guards,
            is_include_guard: false,
        });
    }

    /// Records a `#define` that directly follows the start of the innermost group.
    pub fn define_at_start(&mut self, name: &str) {
        if let Some(frame) = self.0.last_mut() {
            frame.is_include_guard = frame.guards == [name];
        }
    }

    /// Continues with the next branch of the innermost group. Returns `false` if no group is open.
    pub fn next_branch(&mut self) -> bool {
        self.0.last_mut().is_some_and(|frame| {
            frame.branch += 1;
            frame.guards.clear();
            frame.is_include_guard = false;
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

    /// Whether every open group is an include guard. All their conditions are true when the file is included first.
    pub fn hold_at_first(&self) -> bool {
        self.0.iter().all(|frame| frame.is_include_guard)
    }

    /// The number of open groups.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// Whether this position is compiled only if `name` is not defined before.
    pub fn guards(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|frame| frame.guards.iter().any(|guard| guard == name))
    }

    /// Whether the compiler is known to see at most one of two positions: they are in different branches of one group,
    /// or both are under a guard with the same name.
    pub fn excludes(&self, other: &OpenConditionals) -> bool {
        self.0.iter().any(|frame| {
            other.0.iter().any(|theirs| {
                let branches = frame.group == theirs.group && frame.branch != theirs.branch;
                let guards = frame.group != theirs.group
                    && !frame.guards.is_empty()
                    && frame.guards == theirs.guards;
                branches || guards
            })
        })
    }
}
