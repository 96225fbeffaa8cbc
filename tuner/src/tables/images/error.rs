//! Errors of the images of rows.

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
    /// It is for another device.
    #[error("it is for {target}, not for the row's device")]
    OtherTarget {
        /// The device that it is for.
        target: String,
    },
    /// The file does not exist or cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
    /// The file has another hash.
    #[error("its hash is {found}, the row says {baked}")]
    OtherHash {
        /// The hash of the file.
        found: Hash,
        /// The hash in the row.
        baked: Hash,
    },
    /// It is not an image for the device.
    #[error("{}", first_line(.0))]
    Image(#[from] ImageError),
    /// It lacks an entry of the row.
    #[error("it has no kernel `{symbol}`")]
    NoKernel {
        /// The entry's symbol.
        symbol: String,
    },
}

fn first_line(error: &ImageError) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Why a row has no image, although it is not faulty.
#[derive(Clone, Copy, Debug, Error)]
pub enum NoRowImage {
    /// Its device does not use images.
    #[error("devices of this kind have no images")]
    Device,
    /// The row is stale.
    #[error("stale: another {which} was baked")]
    Stale {
        /// The changed part.
        which: &'static str,
    },
}

/// A row for which no image can be made, and why.
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

/// The cause of a [`RowError`].
#[derive(Debug, Error)]
pub enum RowFault {
    /// The source does not produce the baked unit.
    #[error(transparent)]
    Unit(#[from] RowUnitError),
    /// It does not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The compiled image is not the one that the row needs.
    #[error(transparent)]
    Image(#[from] ImageFault),
}
