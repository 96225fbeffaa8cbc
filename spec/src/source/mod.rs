//! Kernel sources: flattening of local includes, and a token scan of the `.cu`.
//!
//! Nothing here evaluates the preprocessor or knows C++: a small lexer finds names, braces and
//! directives, and what it cannot follow is refused with a message. What a kernel may look like is
//! listed at [`SourceScan`].

mod conditional;
mod ctype;
mod entry;
mod error;
mod flatten;
mod kernel_function;
pub mod lexer;
mod lines;
mod parts;
mod path;
mod reach;
mod scan;
mod signature;
mod walk;

pub use conditional::Conditions;
pub use ctype::CType;
pub use entry::{Entry, EntryError};
pub use error::{Location, SourceError};
pub use flatten::{
    MAX_INCLUDE_DEPTH, MAX_SOURCE_BYTES, PRELUDE_HEADERS, Reader, SourceFile, SourceText,
};
pub use kernel_function::{KernelFunction, Obstacle, Parameter};
pub use parts::{DynamicShared, ExternC, Include, MacroDefinition, Unroll};
pub use scan::{Mode, SourceScan};
pub use signature::SignatureError;
