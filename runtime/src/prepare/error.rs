//! Errors of preparing an entry.

use kiln_spec::codegen::CodegenError;
use kiln_spec::source::SourceError;
use thiserror::Error;

use crate::compiler::error::CompileError;
use crate::device::error::DeviceError;
use crate::prepare::prepared::NoImage;
use crate::selection::Choice;

/// Why an entry cannot be launched on a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The embedded source cannot be scanned.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// No translation unit can be generated.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    /// The generated entry is not the baked one.
    #[error(
        "the entry generated for {choice} is `{generated}`, but `{baked}` was baked\n\
         help: the program was built with another version of Kiln than its tables; rebuild it"
    )]
    Symbol {
        /// The choice.
        choice: Choice,
        /// The symbol that was generated now.
        generated: String,
        /// The symbol in the table.
        baked: String,
    },
    /// The compiler failed.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// There is neither an image nor a compiler.
    #[error("{choice} has {image}, and cannot be compiled here: {missing}\nhelp: {help}")]
    NoImageNoCompiler {
        /// The choice.
        choice: Choice,
        /// Why no image is used.
        image: NoImage,
        /// The missing compiler, and where it was searched.
        missing: String,
        /// The remedy.
        help: String,
    },
    /// The artifact cannot be loaded.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
