//! Errors in the sources of a package, or in the declarations in them.

use std::io;
use std::path::PathBuf;

use kiln_spec::source::SourceError;
use thiserror::Error;

/// Why a file or a declaration in it cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DeclarationError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}\nhelp: a source file is UTF-8 text", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A file is nested too deeply to be parsed.
    #[error(
        "{}:{line}:{column}: brackets or operators nest deeper than any that are read\nhelp: at most {most} levels",
        .file.display()
    )]
    TooDeep {
        /// The file.
        file: PathBuf,
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// The maximum depth.
        most: usize,
    },
    /// A file is not valid Rust.
    #[error("{}:{line}:{column}: {message}\nhelp: `cargo check` shows more of it", .file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// The parser's message.
        message: String,
    },
    /// A module has no file.
    #[error(
        "{}:{line}: module `{module}` has no file\nhelp: write {}",
        .declared_in.display(), looked(.looked_for)
    )]
    NoModuleFile {
        /// The file that declares it.
        declared_in: PathBuf,
        /// The line.
        line: usize,
        /// The module.
        module: String,
        /// The places where its file was searched.
        looked_for: Vec<PathBuf>,
    },
    /// A declaration is invalid, or does not match its source.
    #[error("{rendered}")]
    Wrong {
        /// Every mistake, with its source lines.
        rendered: String,
    },
    /// The source of a kernel cannot be used.
    #[error("{file}: kernel `{kernel}`: {error}{}", help(.error))]
    Source {
        /// The file that declares the kernel.
        file: String,
        /// The kernel.
        kernel: String,
        /// Why it cannot be used.
        error: Box<SourceFault>,
    },
}

/// Why the source of a kernel cannot be used.
#[derive(Debug, Error)]
pub enum SourceFault {
    /// The folder of the package or of the declaration cannot be found.
    #[error(transparent)]
    Folder(#[from] io::Error),
    /// The source cannot be read or scanned.
    #[error(transparent)]
    Source(#[from] SourceError),
}

fn looked(files: &[PathBuf]) -> String {
    let files: Vec<_> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    files.join(" or ")
}

fn help(error: &SourceFault) -> &'static str {
    match error.to_string().contains("\nhelp: ") {
        true => "",
        false => "\nhelp: the source must be whole as it is",
    }
}
