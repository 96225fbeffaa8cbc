//! Reads kernel sources: inlines local includes, and scans the tokens of the result.
//!
//! These modules neither evaluate the preprocessor nor parse C++. A small lexer finds names, braces and directives. If
//! the scan cannot follow the form of a kernel, it rejects the kernel with an error. [`SourceScan`] lists the supported
//! forms.

mod conditional;
mod constant;
mod ctype;
mod entry;
mod entry_path;
mod error;
mod fingerprint;
mod flatten;
mod host_headers;
mod kernel_function;
pub mod lexer;
mod lines;
mod parts;
mod path;
mod reach;
mod scan;
mod signature;
mod template;
mod walk;

pub use conditional::OpenConditionals;
pub use constant::ConstantVariable;
pub use ctype::{Aliases, CType};
pub use entry::{Entry, EntryError};
pub use entry_path::EntryPath;
pub use error::{Location, ReadError, SourceError};
pub(crate) use flatten::line_marker;
pub use flatten::{
    MAX_INCLUDE_DEPTH, MAX_SOURCE_BYTES, PRELUDE_HEADERS, Reader, SourceFile, SourceText,
};
pub use host_headers::is_for_hosts;
pub use kernel_function::{KernelFunction, Obstacle, Parameter};
pub use parts::{DynamicShared, Include, MacroDefinition, Unroll};
pub use scan::{Mode, SourceScan};
pub use signature::SignatureError;
pub use template::{Template, TemplateParam};
