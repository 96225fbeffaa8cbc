//! Kernel sources: flattening of local includes, and a token scan of the `.cu`.
//!
//! Nothing here evaluates the preprocessor or understands C++: a small lexer finds names, braces and directives, and
//! anything that it cannot follow is refused with a message. [`SourceScan`] lists the supported forms of kernels.

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
pub use parts::{DynamicShared, ExternC, Include, MacroDefinition, Unroll};
pub use scan::{Mode, SourceScan};
pub use signature::SignatureError;
pub use template::{Template, TemplateParam};
