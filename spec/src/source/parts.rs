//! The parts of a source that a scan records, except for kernels.

use std::collections::BTreeSet;
use std::ops::Range;

use super::conditional::OpenConditionals;
use super::error::Location;

/// A `#define` in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroDefinition {
    /// Its name.
    pub name: String,
    /// The directive.
    pub range: Range<usize>,
    /// The `#if` groups around it.
    pub conditions: OpenConditionals,
    /// The names in its replacement.
    pub mentions: BTreeSet<String>,
    /// Whether this is `#undef NAME` rather than `#define NAME`.
    pub undef: bool,
}

/// An `#include` that was left in the expanded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// The directive.
    pub range: Range<usize>,
    /// The header name, without the brackets or quotes.
    pub header: String,
    /// The author's file and line.
    pub at: Location,
    /// Whether it is under an `#if`.
    pub conditional: bool,
}

/// A `#pragma unroll`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unroll {
    /// The directive.
    pub range: Range<usize>,
    /// Its operand, if it has one.
    pub count: Option<String>,
}

/// A declaration `extern __shared__ T name[];`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicShared {
    /// From its first token to the semicolon.
    pub range: Range<usize>,
    /// Element type and name; `None` if the declaration has another form.
    pub declares: Option<(String, String)>,
    /// Whether it is outside every function.
    pub file_scope: bool,
}

/// An `extern "C"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternC {
    /// The literal `"C"`.
    pub literal: Range<usize>,
    /// Whether a declaration without a body follows.
    pub declaration: bool,
}
