//! Errors of reading and writing tables.

use std::io;
use std::path::PathBuf;

use kiln::compiler::CompileError;
use kiln_spec::baked::BakedError;
use thiserror::Error;

use super::images::RowError;
use kiln_lab::atomic_file::without_path;

/// Why tables cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// A file cannot be parsed.
    #[error("{}: {error}{}", .path.display(), help(.error))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        error: BakedError,
    },
    /// Rows cannot be put into a kernel's table, or the table into the index.
    #[error("kernel `{kernel}`: {error}")]
    Kernel {
        /// The kernel.
        kernel: String,
        /// Why not.
        error: BakedError,
    },
    /// A table cannot be listed in the index.
    #[error(transparent)]
    Name(BakedError),
    /// The folder of tables cannot be written to.
    #[error(
        "cannot write tables into {}: {}\nhelp: make {} a folder that can be written; nothing was measured yet",
        .folder.display(), without_path(.error), .there.display()
    )]
    NotWritable {
        /// The folder.
        folder: PathBuf,
        /// The existing part of its path.
        there: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// No compiler for images of a target is installed.
    #[error("images for {target}: {error}")]
    NoCompiler {
        /// The target.
        target: String,
        /// The compiler's error, which names the missing part.
        error: CompileError,
    },
    /// Rows of a kernel get no image.
    #[error(
        "kernel `{kernel}`: {}\nhelp: nothing was written; choose other rows with `--target`",
        each(.rows)
    )]
    Images {
        /// The kernel.
        kernel: String,
        /// The rows, and why.
        rows: Vec<RowError>,
    },
    /// A row with an image cannot replace the one without.
    #[error("{0}\nhelp: run `tune bake --check`")]
    Replaced(BakedError),
}

fn help(error: &BakedError) -> &'static str {
    match error.to_string().contains("\nhelp: ") {
        true => "",
        false => {
            "\nhelp: restore the file, or delete it and run `tune bake` (with `--write` for a cpu)"
        }
    }
}

fn each(rows: &[RowError]) -> String {
    let lines: Vec<String> = rows.iter().map(RowError::to_string).collect();
    lines.join("\n")
}
