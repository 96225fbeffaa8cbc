//! The report of a run: one HTML page with its charts in it, or the same figures as JSON.
//!
//! [`gather`] reads a run out of the cache into [`RunFigures`]; [`page`](page()) draws them. The page shows nothing
//! that the figures do not hold, and fetches nothing: styles, charts and the few lines that sort tables are in it.
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
