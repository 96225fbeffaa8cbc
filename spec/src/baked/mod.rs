//! Baked tables: the text files under `tuned/` that are committed and that a build reads.
//!
//! `tuned/<kernel>.toml` contains one section per device and one line per row. Every row repeats its device and has its
//! own hashes, and no two sections have a line in common. Git can therefore merge tables from many machines line by
//! line (`merge=union`, see [`GITATTRIBUTES`]).
//!
//! The reader accepts only text that `tune` could have written, because a table is an input of a build and may come
//! from a failed merge.

mod error;
mod folder;
mod image;
mod index;
mod now;
mod overlay;
mod quoted;
mod reader;
mod row;
mod strict;
mod table;
#[cfg(test)]
mod tests;

pub use crate::model::Evidence;
pub use error::BakedError;
pub use folder::{TUNED_VARIABLE, local_tables_folder};
pub use image::Image;
pub use index::Index;
pub use overlay::{OverlaidRow, overlay};
pub use reader::MAX_TABLE_BYTES;
pub use row::{Freshness, Hashes, ResolvedRow, Row, Speedup};
pub use strict::{STRICT_VARIABLE, StrictError, is_strict};
pub use table::BakedTable;

/// Name of the index in a `tuned/` folder.
pub const INDEX_FILE: &str = "index.toml";

/// The content of `tuned/.gitattributes`. It gives tables the same line endings on all systems and makes a merge keep
/// the rows that both branches added.
pub const GITATTRIBUTES: &str =
    "*.toml text eol=lf merge=union\n*.cubin binary\n*.hsaco binary\n*.so binary\n";
