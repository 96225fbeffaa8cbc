//! Detects regressions: times the current kernels, and decides whether they are slower than saved kernels.
//!
//! ```text
//! tune bench --save FILE      present ──► draft ──► verify ──► Survey, against its baseline ──► table
//!                                           └──► kept ──► saved: the kernels themselves, and their times
//! tune compare FILE           saved ──► revived ┐
//!                             present ──► draft ┴► verify both ──► Comparison, in pairs ──► verdict ──► gate
//! ```
//!
//! A file contains kernels, not only times. A comparison runs the saved and the current kernel in the same session, on
//! the same data, and alternates them in fresh processes. Times from different sessions are never compared.

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
