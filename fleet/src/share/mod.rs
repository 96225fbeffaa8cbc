//! Journals without a plan: what a machine measured, signed by its user, for others to start from.
//!
//! Segments lie below `seg/none/`, and are those of elements in every other respect: journals byte for byte, named by their
//! hash, each with a signature. There is neither a head nor a list of what must be there: a store that withholds a segment
//! costs the search that would have started from it, and what was pulled once is kept.

mod imports;
mod pull;
mod push;
mod read;

pub use imports::{Imported, Imports};
pub use pull::{Pulled, pull};
pub use push::{PushError, Pushed, journal_id, push};

/// How far a push or a pull is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many records are to be published, or segments to be fetched.
    Planned(usize),
    /// So many more are done.
    Done(usize),
}

/// Receives the progress.
pub type Report<'r> = &'r (dyn Fn(Progress) + Sync);

#[cfg(test)]
mod tests;
