//! [`PrepareError`], the reason why a kernel cannot be prepared for launching.

use kiln_spec::codegen::CodegenError;
use kiln_spec::source::SourceError;
use thiserror::Error;

use crate::compiler::error::CompileError;
use crate::device::error::DeviceError;
use crate::prepare::prepared::NoImage;
use crate::selection::Choice;

/// The reason why an entry (a kernel's `__global__` function) cannot be prepared for launching on a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The embedded source cannot be scanned.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// No code can be generated for the config.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    /// The symbol of the generated entry differs from the baked symbol.
    #[error(
        "the entry generated for {choice} is `{generated}`, but `{baked}` was baked\n\
         help: the program was built with another version of Kiln than its tables; rebuild it"
    )]
    Symbol {
        /// The choice whose entry was generated.
        choice: Choice,
        /// The symbol of the entry that was generated at run time.
        generated: String,
        /// The symbol in the baked table.
        baked: String,
    },
    /// The compiler failed.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The program contains no usable image, and no compiler was found.
    #[error("{choice} has {image}, and cannot be compiled here: {missing}\nhelp: {help}")]
    NoImageNoCompiler {
        /// The choice that cannot be prepared.
        choice: Choice,
        /// The reason why no image is used.
        image: NoImage,
        /// The missing compiler, and the places that were searched.
        missing: String,
        /// What the user can do.
        help: String,
    },
    /// The artifact cannot be loaded.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
