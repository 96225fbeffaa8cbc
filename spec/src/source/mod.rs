//! Reads kernel sources: inlines local includes, and scans the tokens of the result.
//!
//! These modules do not parse C++, and they evaluate the preprocessor only where its result is the same for every target
//! and config. A small lexer finds names, braces and directives. If the scan cannot follow the form of a kernel, it
//! rejects the kernel with an error. [`SourceScan`] lists the supported forms.

mod brackets;
mod conditional;
mod constant;
mod ctype;
pub(crate) mod edit;
mod entry;
mod entry_path;
mod error;
mod facts;
mod fingerprint;
mod flatten;
mod flatten_action;
mod host_code;
mod host_headers;
mod kernel_function;
pub mod lexer;
mod lines;
mod parts;
mod path;
mod polyfill;
mod preprocess;
mod reach;
mod scan;
mod signature;
mod slice;
mod template;
mod walk;

pub use conditional::OpenConditionals;
pub use constant::ConstantVariable;
pub use ctype::{Aliases, CType};
pub use entry::{Entry, EntryError};
pub use entry_path::EntryPath;
pub use error::{Location, ReadError, SourceError};
pub(crate) use flatten::line_marker;
pub use flatten::{MAX_INCLUDE_DEPTH, MAX_SOURCE_BYTES, Reader, SourceFile, SourceText};
pub use flatten_action::PRELUDE_HEADERS;
pub use host_headers::is_for_hosts;
pub use kernel_function::{KernelFunction, Obstacle, Parameter};
pub use parts::{DynamicShared, Include, MacroDefinition, Unroll};
pub(crate) use polyfill::polyfills;
pub use scan::{Mode, SourceScan};
pub use signature::SignatureError;
pub use slice::reduce;
pub use template::{Template, TemplateParam};
