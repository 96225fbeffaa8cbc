//! Errors of reading and writing baked tables.

use std::io;
use std::path::PathBuf;

use kiln::compiler::CompileError;
use kiln_spec::baked::BakedError;
use thiserror::Error;

use super::images::RowError;
use kiln_project::TableFileError;
use kiln_project::atomic_file::without_path;

/// Why a table cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// A file of a table folder cannot be read or written.
    #[error(transparent)]
    File(TableFileError),
    /// The folder of the tables is not writable.
    #[error(
        "cannot write tables into {}: {}\nhelp: make {} a writable folder; nothing was measured yet",
        .folder.display(), without_path(.error), .there.display()
    )]
    NotWritable {
        /// The path of the folder.
        folder: PathBuf,
        /// The nearest existing parent of the folder.
        there: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The compiler for images of a target is not installed.
    #[error("images for {target}: {error}")]
    NoCompiler {
        /// The name of the target.
        target: String,
        /// The compiler's error, which names the missing part.
        error: CompileError,
    },
    /// No image can be compiled for some rows of a kernel.
    #[error(
        "kernel `{kernel}`: {}\nhelp: nothing was written; choose other rows with `--target`",
        each(.rows)
    )]
    Images {
        /// The name of the kernel.
        kernel: String,
        /// The rows, each with the reason.
        rows: Vec<RowError>,
    },
    /// A row that now refers to an image cannot replace the old row in its table.
    #[error("{0}\nhelp: run `tune bake --check`")]
    Replaced(BakedError),
}

fn each(rows: &[RowError]) -> String {
    let lines: Vec<String> = rows.iter().map(RowError::to_string).collect();
    lines.join("\n")
}
