//! Errors in the files that `tune` writes for a kernel.

use kiln_spec::Hash;
use kiln_spec::baked::BakedError;
use kiln_spec::codegen::{CodegenError, Symbol};
use kiln_spec::device::DeviceKey;
use kiln_spec::source::ReadError;
use thiserror::Error;

/// The reason why the files that `tune` writes for a kernel cannot be used. Paths in messages are relative to the
/// package.
#[derive(Debug, Error)]
pub(crate) enum UnusableTable {
    /// The index cannot be read.
    #[error(
        "the index of baked tables, {file}, cannot be read: {error}\n\
         help: restore the file, or delete it and run `tune init` in this package"
    )]
    UnreadIndex { file: String, error: ReadError },
    /// The index lists a table that cannot be read.
    #[error(
        "the index lists {file}, which cannot be read: {error}\n\
         help: restore the file, or run `tune bake -k {kernel}` on the machine that tuned it (with `--write` for a cpu)"
    )]
    UnreadTable {
        kernel: String,
        file: String,
        error: ReadError,
    },
    /// The index or the table does not have the format that `tune` writes.
    #[error("{file}: {error}")]
    Format {
        file: String,
        error: Box<BakedError>,
    },
    /// A row of the table cannot be used.
    #[error("{file}: {error}")]
    Row {
        file: String,
        error: Box<UnusableRow>,
    },
}

/// The reason why a fresh row cannot be used.
#[derive(Debug, Error)]
pub(crate) enum UnusableRow {
    /// The row's config or problem does not belong to the kernel.
    #[error(transparent)]
    Values(#[from] BakedError),
    /// No code can be generated for the row's config.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    /// The row's symbol is not the symbol of its config.
    #[error(
        "row of `{device}` for {problem}: its symbol is `{found}`, but its config produces `{expected}`\n\
         help: {help}"
    )]
    Symbol {
        device: Box<DeviceKey>,
        problem: String,
        found: String,
        expected: Symbol,
        help: String,
    },
    /// The row's image is for a target that the row's device cannot load.
    #[error(
        "the image {file} is for {target}, which is not the target of images for `{device}`\n{IMAGE_HELP}"
    )]
    ImageTarget {
        file: String,
        target: String,
        device: Box<DeviceKey>,
    },
    /// The row's image cannot be read.
    #[error("the image {file} cannot be read: {error}\n{IMAGE_HELP}")]
    UnreadImage { file: String, error: ReadError },
    /// The row's image is not the file that was baked.
    #[error("the image {file} has hash {found}, but its row says {baked}\n{IMAGE_HELP}")]
    ImageHash {
        file: String,
        found: Hash,
        baked: Hash,
    },
}

const IMAGE_HELP: &str = "help: run `tune bake --images`, or restore the file";
