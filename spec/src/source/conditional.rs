//! Tracks which `#if` groups enclose a position in a source.

use super::error::Location;
use super::facts::Fact;

/// The macro with the version of the GPU, which is defined for NVIDIA GPUs only.
const ARCHITECTURE: &str = "__CUDA_ARCH__";

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
    /// The directive of the branch as written, and its file and line.
    directive: (String, Location),
    /// Whether a condition of the group up to this branch contains `__CUDA_ARCH__`.
    asks_architecture: bool,
    /// What the condition of the branch says.
    facts: Vec<Fact>,
    /// The negated conditions of the earlier branches, as far as they can be stated as facts.
    earlier: Vec<Fact>,
}

/// A directive that begins a branch.
pub(super) struct Branch {
    /// The directive as written, and its file and line.
    pub directive: (String, Location),
    /// What its condition says.
    pub facts: Vec<Fact>,
}

impl Branch {
    fn asks_architecture(&self) -> bool {
        self.directive.0.contains(ARCHITECTURE)
    }
}

/// The groups that are open at a position of the source, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenConditionals(Vec<ConditionalFrame>);

impl OpenConditionals {
    /// Opens a group. `guards` are the names in its condition if the condition has the form `#ifndef NAME` or `#if
    /// !defined(A) && !defined(B)`.
    pub(super) fn open(&mut self, group: usize, guards: Vec<String>, branch: Branch) {
        self.0.push(ConditionalFrame {
            group,
            branch: 0,
            guards,
            is_include_guard: false,
            asks_architecture: branch.asks_architecture(),
            directive: branch.directive,
            facts: branch.facts,
            earlier: Vec::new(),
        });
    }

    /// Records a `#define` that directly follows the start of the innermost group.
    pub fn define_at_start(&mut self, name: &str) {
        if let Some(frame) = self.0.last_mut() {
            frame.is_include_guard = frame.guards == [name];
        }
    }

    /// Continues with the next branch of the innermost group. Returns `false` if no group is open.
    pub(super) fn next_branch(&mut self, branch: Branch) -> bool {
        self.0.last_mut().is_some_and(|frame| {
            frame.branch += 1;
            frame.guards.clear();
            frame.is_include_guard = false;
            frame.asks_architecture |= branch.asks_architecture();
            frame.directive = branch.directive;
            let before = std::mem::replace(&mut frame.facts, branch.facts);
            frame.earlier.extend(Fact::negation(&before));
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

    /// Whether a condition of an open group contains `__CUDA_ARCH__`, in this branch or an earlier one.
    pub(super) fn ask_architecture(&self) -> bool {
        self.0.iter().any(|frame| frame.asks_architecture)
    }

    /// Whether every open group is an include guard, so that all their conditions are true when the file is included
    /// for the first time.
    pub fn hold_at_first(&self) -> bool {
        self.0.iter().all(|frame| frame.is_include_guard)
    }

    /// The directive of the innermost open branch that is not an include guard, as written, with its file and line.
    pub fn innermost(&self) -> Option<(&str, &Location)> {
        let mut frames = self.0.iter().rev();
        let frame = frames.find(|frame| !frame.is_include_guard)?;
        Some((&frame.directive.0, &frame.directive.1))
    }

    /// Whether this position is compiled only if one of the names for which `is_defined` returns `true` is not defined.
    pub fn need_undefined(&self, is_defined: impl Fn(&str) -> bool) -> bool {
        let mut facts = self.0.iter().flat_map(ConditionalFrame::facts);
        facts.any(|fact| fact.undefined().is_some_and(&is_defined))
    }

    /// Whether the compiler sees at most one of two positions: they are in different branches of one group, their
    /// conditions cannot both hold, or both are under `#ifndef` of the same name, which the first is taken to define.
    pub fn excludes(&self, other: &OpenConditionals) -> bool {
        self.0.iter().any(|frame| {
            other.0.iter().any(|theirs| {
                if frame.group == theirs.group {
                    return frame.branch != theirs.branch;
                }
                let guards = !frame.guards.is_empty() && frame.guards == theirs.guards;
                guards || frame.contradicts(theirs)
            })
        })
    }
}

impl ConditionalFrame {
    /// Everything that is known to be true in the branch.
    fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter().chain(&self.earlier)
    }

    /// Whether the conditions of two branches of different groups cannot both hold.
    fn contradicts(&self, other: &ConditionalFrame) -> bool {
        self.facts()
            .any(|fact| other.facts().any(|other| fact.excludes(other)))
    }
}
