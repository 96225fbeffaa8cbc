//! The results that Kiln stores on a machine: trials, winners, and a journal of every run.
//!
//! Only `tune` opens the cache; builds never do. The journal is an append-only file that is synced after every write,
//! and it is the authoritative record of a run. All reads go to the store, which is a sled database. A damaged store is
//! rebuilt from the journal.
//!
//! The records contain no code, only integers, enums and names. The worst effects of a wrong record are therefore a
//! slow kernel or an error.
//!
//! ```
//! use kiln_cache::{Cache, OpenOptions};
//! # let folder = tempfile::tempdir()?;
//! let (cache, warnings) = Cache::open(folder.path(), OpenOptions::new())?;
//! assert!(warnings.is_empty());
//! let run = cache.start_run("0.1.0", 1_700_000_000, 42)?;
//! // … remember_key, begin, finish, seal …
//! cache.end_run(run, 1_700_000_060)?;
//! assert_eq!(cache.stats()?.runs, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod cache;
mod error;
pub mod journal;
pub mod key;
pub mod location;
mod lock;
pub mod probe;
pub mod record;
mod set_aside;
pub mod store;
mod warning;

pub use cache::{Begin, Cache, OpenOptions, QUARANTINE_STRIKES, Stats, VerifyReport, holder};
pub use error::CacheError;
pub use journal::JournalError;
pub use key::{Explanation, KeyDifference, KeyParts, TuningKey, explain};
pub use lock::{CacheLock, Waiting};
pub use probe::ProbeCommand;
pub use record::{Outcome, Record, Summary, Trial, TrialId, Winner};
pub use store::{Run, StoreError};
pub use warning::Warning;

// The unit tests of this crate use the samples of the integration tests in `tests/`.
#[cfg(test)]
extern crate self as kiln_cache;
#[cfg(test)]
#[path = "../tests/samples/mod.rs"]
mod samples;
