//! Regression checks: how long kernels take now, and whether they are slower than the saved ones.
//!
//! ```text
//! tune bench --save FILE      present ──► draft ──► verify ──► Survey, against its baseline ──► table
//!                                           └──► kept ──► saved: the kernels themselves, and what they took
//! tune compare FILE           saved ──► revived ┐
//!                             present ──► draft ┴► verify both ──► Comparison, in pairs ──► verdict ──► gate
//! ```
//!
//! A file contains kernels, not just times: a comparison runs both sides in the same session, on the same data,
//! interleaved in fresh processes. Times from different days are never compared.

pub mod bench;
pub mod compare;
pub mod copied;
pub mod device_bench;
pub mod embedded;
mod error;
pub mod file_comparison;
pub mod kept;
pub mod least;
pub mod peer;
pub mod plan;
pub mod replayed;
pub mod saved;
mod saved_error;
pub mod stage;
pub mod table;
pub mod throughput;
pub mod verdict;

pub use error::{EmbeddedError, NothingWatched, WatchError};
pub use saved_error::{Damage, NotHeld, OtherFile, ReviveError, SavedError};
