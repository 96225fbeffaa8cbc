//! Baked tables: their files, their rows and images, and the row that a build selects.

pub mod bake;
pub mod check;
pub mod current;
mod error;
pub mod images;
pub mod listing;
pub mod row_unit;
pub mod unproven;
pub mod why;

pub use error::TableError;
