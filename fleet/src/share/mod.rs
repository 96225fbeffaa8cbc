//! Shared journals, which belong to no plan. A user signs and publishes what a machine measured, and searches on other
//! machines start from these results.
//!
//! The segments of shared journals lie below `seg/none/`. Otherwise they are like the segments of a plan: each is a
//! part of a journal byte for byte, is named by its hash, and has a signature. No list says which segments the store
//! must contain, so nobody notices if it withholds a segment. Searches then cannot start from the results in that
//! segment. A machine keeps every segment that it has pulled.

mod imports;
mod pull;
mod push;
mod read;

pub use imports::{Imported, Imports};
pub use pull::{Pulled, pull};
pub use push::{PushError, Pushed, journal_id, push};

/// Progress of a push or a pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The number of records that a push will publish, or of segments that a pull will fetch.
    Planned(usize),
    /// The number of records or segments that were completed since the last report.
    Done(usize),
}

/// A function that receives the progress.
pub type Report<'r> = &'r (dyn Fn(Progress) + Sync);

#[cfg(test)]
mod tests;
