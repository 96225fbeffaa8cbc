//! Errors in the source files of a package, and in the kernel declarations that the files contain.

use std::io;
use std::path::PathBuf;

use kiln_spec::source::SourceError;
use thiserror::Error;

/// The reason why a file, or a declaration in it, cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DeclarationError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}\nhelp: a source file is UTF-8 text", .file.display())]
    Unreadable {
        /// The path of the file.
        file: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// Brackets or operators in a file are nested too deeply to be parsed.
    #[error(
        "{}:{line}:{column}: brackets or operators nest too deep\nhelp: nest them at most {most} levels deep",
        .file.display()
    )]
    TooDeep {
        /// The path of the file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The maximum nesting depth.
        most: usize,
    },
    /// A file is not valid Rust.
    #[error("{}:{line}:{column}: {message}\nhelp: `cargo check` shows more of it", .file.display())]
    Syntax {
        /// The path of the file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The message of the parser.
        message: String,
    },
    /// A file declares a module whose file does not exist.
    #[error(
        "{}:{line}: module `{module}` has no file\nhelp: write {}",
        .declared_in.display(), looked(.looked_for)
    )]
    NoModuleFile {
        /// The file that declares the module.
        declared_in: PathBuf,
        /// The line of the declaration, from 1.
        line: usize,
        /// The path of the module.
        module: String,
        /// The paths at which the module's file was searched.
        looked_for: Vec<PathBuf>,
    },
    /// A declaration is invalid, or does not match the source of its kernel.
    #[error("{rendered}")]
    Wrong {
        /// Every mistake, formatted with its source lines.
        rendered: String,
    },
    /// The source of a kernel cannot be used.
    #[error("{file}: kernel `{kernel}`: {error}{}", help(.error))]
    Source {
        /// The file that declares the kernel.
        file: String,
        /// The name of the kernel.
        kernel: String,
        /// Why the source cannot be used.
        error: Box<SourceFault>,
    },
}

/// The reason why the source of a kernel cannot be used.
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
