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
    /// A row was requested that the kernel does not have.
    #[error(
        "baked row {row} is requested, but the number of baked rows is {rows} (they are numbered from 0)"
    )]
    NoSuchRow {
        /// The index of the requested row.
        row: usize,
        /// The number of the kernel's rows.
        rows: usize,
    },
    /// A row was requested for other element types than it was tuned for.
    #[error(
        "baked row {row} was tuned for {tuned}, so it cannot be launched for {problem}, which has other element types"
    )]
    OtherTypes {
        /// The index of the requested row.
        row: usize,
        /// The problem for which the row was tuned.
        tuned: String,
        /// The problem of the request.
        problem: String,
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
