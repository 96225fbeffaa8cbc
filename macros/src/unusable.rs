//! Errors of the files that `tune` writes for a kernel.

use kiln_spec::Hash;
use kiln_spec::baked::BakedError;
use kiln_spec::codegen::{CodegenError, Symbol};
use kiln_spec::device::DeviceKey;
use kiln_spec::source::ReadError;
use thiserror::Error;

/// Why the files that `tune` writes for a kernel cannot be used; paths are relative to the package.
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
    /// The index or the table is not in the format of `tune`.
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

/// Why a fresh row cannot be used.
#[derive(Debug, Error)]
pub(crate) enum UnusableRow {
    /// Its config or problem does not belong to the kernel.
    #[error(transparent)]
    Values(#[from] BakedError),
    /// No code can be generated for its config.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    /// Its symbol is not the one of its config.
    #[error(
        "row of `{device}` for {problem}: its symbol is `{found}`, but its config makes `{expected}`\nhelp: {help}"
    )]
    Symbol {
        device: Box<DeviceKey>,
        problem: String,
        found: String,
        expected: Symbol,
        help: String,
    },
    /// Its image is for a target that its device cannot load.
    #[error(
        "the image {file} is for {target}, which is not what images for `{device}` are for\n{IMAGE_HELP}"
    )]
    ImageTarget {
        file: String,
        target: String,
        device: Box<DeviceKey>,
    },
    /// Its image cannot be read.
    #[error("the image {file} cannot be read: {error}\n{IMAGE_HELP}")]
    UnreadImage { file: String, error: ReadError },
    /// Its image is not the baked one.
    #[error("the image {file} has hash {found}, its row says {baked}\n{IMAGE_HELP}")]
    ImageHash {
        file: String,
        found: Hash,
        baked: Hash,
    },
}

const IMAGE_HELP: &str = "help: run `tune bake --images`, or restore the file";
