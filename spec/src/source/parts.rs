//! What a scan records in addition to kernels. All ranges are byte ranges of the expanded source.

use std::collections::BTreeSet;
use std::ops::Range;

use super::conditional::OpenConditionals;
use super::error::Location;

/// A `#define` or `#undef` in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroDefinition {
    /// The name of the macro.
    pub name: String,
    /// The range of the directive.
    pub range: Range<usize>,
    /// The author's file and line of the directive.
    pub at: Location,
    /// The `#if` groups around the directive.
    pub conditions: OpenConditionals,
    /// The names in the replacement text of the macro.
    pub mentions: BTreeSet<String>,
    /// Whether the macro has parameters.
    pub takes_arguments: bool,
    /// Whether the replacement text contains `{` or `;`, so that the macro may declare something without parameters.
    pub is_code: bool,
    /// Whether the replacement text contains `<<<`.
    pub launches: bool,
    /// Whether the replacement text joins tokens with `##`.
    pub joins_tokens: bool,
    /// Whether the directive is `#undef NAME`.
    pub undef: bool,
}

/// An `#include` that is left in the expanded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// The range of the directive.
    pub range: Range<usize>,
    /// The header name, without the brackets or quotes.
    pub header: String,
    /// The author's file and line of the directive.
    pub at: Location,
    /// Whether the directive is inside an `#if` group that is not an include guard.
    pub conditional: bool,
}

/// A `#pragma unroll` in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unroll {
    /// The range of the directive.
    pub range: Range<usize>,
    /// The operand of the directive, if it has one.
    pub count: Option<String>,
}

/// A declaration `extern __shared__ T name[];`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicShared {
    /// The range from the declaration's first token to its semicolon.
    pub range: Range<usize>,
    /// The element type and the name; `None` if the declaration has another form.
    pub declares: Option<(String, String)>,
    /// Whether the declaration is outside every function.
    pub file_scope: bool,
}
