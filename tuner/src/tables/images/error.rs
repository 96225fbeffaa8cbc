//! Errors of the images that belong to rows.

use std::io;

use kiln::compiler::CompileError;
use kiln::image::ImageError;
use kiln_spec::Hash;
use kiln_spec::baked::Row;
use thiserror::Error;

use crate::tables::row_unit::RowUnitError;

/// The fault of a row's image.
#[derive(Debug, Error)]
pub enum ImageFault {
    /// The image is for another device.
    #[error("it is for {target}, not for the row's device")]
    OtherTarget {
        /// The target of the image.
        target: String,
    },
    /// The file does not exist or cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
    /// The file does not have the hash in the row.
    #[error("its hash is {found}, but the row says {baked}")]
    OtherHash {
        /// The hash of the file.
        found: Hash,
        /// The hash in the row.
        baked: Hash,
    },
    /// The file is not an image for the device.
    #[error("{}", first_line(.0))]
    Image(#[from] ImageError),
    /// The image does not contain an entry of the row.
    #[error("it has no kernel `{symbol}`")]
    NoKernel {
        /// The symbol of the entry.
        symbol: String,
    },
}

fn first_line(error: &ImageError) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Why a row has no image, although the row has no fault.
#[derive(Clone, Copy, Debug, Error)]
pub enum NoRowImage {
    /// Devices of this backend do not use images.
    #[error("devices of this kind have no images")]
    Device,
    /// The row is stale.
    #[error("stale: another {which} was baked")]
    Stale {
        /// The part that changed since the row was baked.
        which: &'static str,
    },
    /// Another command wrote the table while the image was compiled.
    #[error("the row has changed meanwhile; run the command again")]
    Changed,
}

/// A row for which no image can be compiled, with the reason.
#[derive(Debug, Error)]
#[error("row of `{device}` ({problem}): {cause}")]
pub struct RowError {
    device: String,
    problem: String,
    cause: Box<RowFault>,
}

impl RowError {
    pub(super) fn of(row: &Row, cause: impl Into<RowFault>) -> RowError {
        RowError {
            device: row.device.to_string(),
            problem: row.problem.clone(),
            cause: Box::new(cause.into()),
        }
    }
}

/// Why no image can be compiled for a row.
#[derive(Debug, Error)]
pub enum RowFault {
    /// The kernel's source does not produce the source text from which the row was baked.
    #[error(transparent)]
    Unit(#[from] RowUnitError),
    /// The source text does not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The compiled image does not match the row.
    #[error(transparent)]
    Image(#[from] ImageFault),
}
