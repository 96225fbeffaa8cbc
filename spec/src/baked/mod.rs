//! Baked tables: the text files under `tuned/` that are checked in and read at build time.
//!
//! `tuned/<kernel>.toml` contains one section per device and one line per row. Every row repeats its device and
//! carries its own hashes, and no two sections have a line in common, so that git merges tables from many machines
//! line by line (`merge=union`, see [`GITATTRIBUTES`]). Reading is strict: a table is an input of a build, and may
//! come from a failed merge.

mod error;
mod image;
mod index;
mod now;
mod quoted;
mod reader;
mod row;
mod table;
#[cfg(test)]
mod tests;

pub use crate::model::Evidence;
pub use error::BakedError;
pub use image::Image;
pub use index::Index;
pub use row::{Freshness, Hashes, ResolvedRow, Row, Speedup};
pub use table::BakedTable;

/// Name of the index in a `tuned/` folder.
pub const INDEX_FILE: &str = "index.toml";

/// The content of `tuned/.gitattributes`: line ends are the same everywhere, and rows that two branches add are both
/// kept.
pub const GITATTRIBUTES: &str =
    "*.toml text eol=lf merge=union\n*.cubin binary\n*.hsaco binary\n*.so binary\n";
