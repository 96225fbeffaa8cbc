//! Renders a run of `tune` as one HTML page with charts, or as JSON with the same figures.
//!
//! [`gather`] reads the records of a run from the cache and computes [`RunFigures`]. [`page`](page()) draws these
//! figures and shows nothing else. The page loads no other file, because it contains its styles, its charts and the
//! script that sorts its tables.
#![forbid(unsafe_code)]

mod axis;
mod best;
mod convergence;
mod curves;
mod environment;
mod evidence;
mod figures;
mod fleet;
mod gather;
mod heat_map;
mod histogram;
mod importance;
mod intervals;
mod outcomes;
mod page;
mod params;
mod permuting;
mod profiles;
mod runs;
mod share_bar;
mod speedups;
mod svg;
mod time_spent;

#[cfg(test)]
mod tests;

pub use curves::{CurveFigures, curves_page};
pub use figures::{RunFigures, SCHEMA, TaskFigures};
pub use fleet::plan_page;
pub use gather::gather;
pub use page::page;
pub use profiles::profiles_page;
pub use runs::{Records, RunLine, RunNotFound, RunSelector};
