//! The `#if` groups that are open at a position of a source, with what is known about their branches.

use super::Truth;

/// An open group.
#[derive(Debug)]
struct Group {
    /// The indices of its directives. The first one is its `#if`, `#ifdef` or `#ifndef`.
    directives: Vec<usize>,
    /// The indices of those of its `#elif` and `#else` directives that begin a branch that is never compiled.
    dead: Vec<usize>,
    /// Whether one of the earlier branches is compiled.
    taken: Truth,
    /// Whether the current branch is compiled.
    branch: Truth,
    /// Whether the whole group is in a branch that is never compiled.
    is_dead: bool,
    /// The name in `#ifndef NAME`; `None` for other conditions and in later branches.
    guard: Option<String>,
    /// Whether the group is an include guard. Its condition is true when the file is included first.
    is_include_guard: bool,
    /// Whether the values of all conditions so far are known.
    is_decided: bool,
}

/// The open groups, outermost first.
#[derive(Debug)]
pub(super) struct Groups {
    open: Vec<Group>,
    /// For each token, whether it is a directive that decides nothing; see [`super::Excluded::decided`].
    pub decided: Vec<bool>,
}

impl Groups {
    pub fn new(tokens: usize) -> Groups {
        Groups {
            open: Vec::new(),
            decided: vec![false; tokens],
        }
    }

    /// Whether the current position may be compiled.
    pub fn is_live(&self) -> bool {
        let mut groups = self.open.iter();
        groups.all(|group| !group.is_dead && group.branch != Truth::False)
    }

    /// Whether the current position is compiled on every target and with every config.
    pub fn is_certain(&self) -> bool {
        self.all_certain(&self.open)
    }

    fn all_certain(&self, groups: &[Group]) -> bool {
        let mut groups = groups.iter();
        groups.all(|group| group.branch == Truth::True || group.is_include_guard)
    }

    /// Whether a `#define` of this name at the current position only provides a default, as inside `#ifndef NAME`.
    /// After the current group, the name is defined in any case.
    pub fn is_default(&self, name: &str) -> bool {
        let Some((group, outer)) = self.open.split_last() else {
            return false;
        };
        let is_guard = group.guard.as_deref() == Some(name);
        is_guard && group.branch == Truth::Unknown && self.all_certain(outer)
    }

    /// Opens a group. `guard` is the name in `#ifndef NAME`, with whether the group is an include guard.
    pub fn open(&mut self, directive: usize, truth: Truth, guard: Option<(String, bool)>) {
        let is_dead = !self.is_live();
        let is_include_guard = guard.as_ref().is_some_and(|(_, is_guard)| *is_guard);
        self.open.push(Group {
            directives: vec![directive],
            dead: Vec::new(),
            taken: truth,
            branch: truth,
            is_dead,
            guard: guard.map(|(name, _)| name),
            is_include_guard,
            is_decided: truth != Truth::Unknown,
        });
    }

    /// Continues with the next branch. Returns whether its directive may be compiled.
    pub fn next(&mut self, directive: usize, condition: Truth) -> bool {
        let Some(group) = self.open.last_mut() else {
            return true;
        };
        group.directives.push(directive);
        group.branch = match group.taken {
            Truth::True => Truth::False,
            Truth::False => condition,
            Truth::Unknown if condition == Truth::False => Truth::False,
            Truth::Unknown => Truth::Unknown,
        };
        group.is_decided &= group.taken == Truth::True || condition != Truth::Unknown;
        group.taken = group.taken.or(condition);
        group.guard = None;
        group.is_include_guard = false;
        if group.branch == Truth::False {
            group.dead.push(directive);
        }
        !group.is_dead
    }

    /// Closes the innermost group. Returns whether its directive may be compiled.
    pub fn close(&mut self, directive: usize) -> bool {
        let Some(mut group) = self.open.pop() else {
            return true;
        };
        group.directives.push(directive);
        let decided = if group.is_decided {
            group.directives
        } else {
            group.dead
        };
        for directive in decided {
            self.decided[directive] = true;
        }
        !group.is_dead
    }
}
