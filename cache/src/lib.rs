//! The results that Kiln keeps on a machine: trials, winners, the journal of every run.
//!
//! `tune` alone opens it; a build never does. The journal (a file, appended to and synced) is the truth
//! of a run; sled is the store that everything reads, rebuilt from the journal when it is damaged.
//! Nothing in here is code: integers, enums and names, so that a bad entry can be slow or refused, and
//! no more.
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

// The samples of the tests in `tests/` serve the tests in here too.
#[cfg(test)]
extern crate self as kiln_cache;
#[cfg(test)]
#[path = "../tests/samples/mod.rs"]
mod samples;
