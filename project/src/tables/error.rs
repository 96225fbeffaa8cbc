//! Errors of reading and writing the files of a folder of tables.

use std::path::PathBuf;

use kiln_spec::baked::BakedError;
use thiserror::Error;

use crate::atomic_file::FileError;

/// Why a table, an index or an image file cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableFileError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file cannot be parsed.
    #[error("{}: {error}{}", .path.display(), help(.error))]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The error of the parser.
        error: Box<BakedError>,
    },
    /// Rows cannot be added to a kernel's table, or the table cannot be added to the index.
    #[error("kernel `{kernel}`: {error}")]
    Kernel {
        /// The name of the kernel.
        kernel: String,
        /// Why the rows or the table cannot be added.
        error: Box<BakedError>,
    },
}

impl TableFileError {
    /// Returns a closure for `map_err` that adds the name of the kernel to an error of its table.
    pub fn of_kernel(kernel: &str) -> impl FnOnce(BakedError) -> TableFileError {
        let kernel = kernel.to_owned();
        move |error| TableFileError::Kernel {
            kernel,
            error: Box::new(error),
        }
    }
}

fn help(error: &BakedError) -> &'static str {
    match error.to_string().contains("\nhelp: ") {
        true => "",
        false => {
            "\nhelp: restore the file, or delete it and run `tune bake` (with `--write` for a cpu)"
        }
    }
}
