//! Opening a cache: bringing journal and store together, whatever state either is in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{database, reconcile};
use crate::error::CacheError;
use crate::journal::{self, Journal};
use crate::lock::Waiting;
use crate::probe::ProbeCommand;
use crate::store::{MemoryStore, Store, StoreError, state};
use crate::warning::Warning;

/// Name of the journal in the cache's folder.
pub(super) const JOURNAL: &str = "journal.kiln";
/// Name of the database in the cache's folder.
pub(super) const STORE: &str = "store.sled";

/// How long the cache is waited for if nothing else is said: a process that was killed may leave a
/// child behind that holds the lock for a moment.
const GRACE: Duration = Duration::from_secs(2);

/// How a cache is opened.
pub struct OpenOptions<'a> {
    pub(super) probe: Option<ProbeCommand>,
    pub(super) deadline: Duration,
    pub(super) lock_deadline: Option<Duration>,
    pub(super) on_wait: Box<dyn FnMut(&Waiting) + 'a>,
}

impl Default for OpenOptions<'_> {
    fn default() -> Self {
        OpenOptions {
            probe: None,
            deadline: Duration::from_secs(10),
            lock_deadline: Some(GRACE),
            on_wait: Box::new(|_| {}),
        }
    }
}

impl<'a> OpenOptions<'a> {
    /// No probe, ten seconds for the database, and two for whoever holds the cache.
    pub fn new() -> OpenOptions<'a> {
        OpenOptions::default()
    }

    /// Opens the database in a child process first, which can be killed if it is stuck.
    #[must_use]
    pub fn probe(mut self, command: ProbeCommand) -> Self {
        self.probe = Some(command);
        self
    }

    /// How long the database may take to open, and to become free; ten seconds unless told. A large one
    /// has more: a second for each 8 MiB.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Waits for another `tune` to end: until the deadline, or for ever. `on_wait` is called before
    /// each pause, with who is waited for.
    #[must_use]
    pub fn wait(mut self, deadline: Option<Duration>, on_wait: impl FnMut(&Waiting) + 'a) -> Self {
        self.lock_deadline = deadline;
        self.on_wait = Box::new(on_wait);
        self
    }
}

/// Opens journal and store in `folder`, whose lock is held, and makes them agree.
pub(super) fn open(
    folder: &Path,
    options: &OpenOptions<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<(Journal, Box<dyn Store>), CacheError> {
    // First, so that a journal of a newer version is refused before anything is touched.
    let (mut journal, survey) = Journal::open(&folder.join(JOURNAL))?;
    let found = database::find(&folder.join(STORE), options, warnings)?;
    let mut store = found.store;
    let agreed = reconcile::agree(
        &mut journal,
        &survey,
        store.as_mut(),
        found.lasting,
        warnings,
    );
    match agreed {
        Err(CacheError::Store(error)) => {
            store = from_journal(&journal)?;
            let reason = error.to_string();
            warnings.push(Warning::StoreUnavailable { reason });
        }
        agreed => agreed?,
    }
    if let Some((moved_to, reason)) = found.aside {
        warnings.push(aside_warning(moved_to, reason, store.totals().entries));
    }
    Ok((journal, store))
}

fn aside_warning(moved_to: PathBuf, reason: StoreError, entries: u64) -> Warning {
    match reason {
        StoreError::Newer { found, known } => Warning::StoreNewer {
            moved_to,
            found,
            known,
            entries,
        },
        reason => Warning::StoreSetAside {
            moved_to,
            reason: reason.to_string(),
            entries,
        },
    }
}

/// A store in memory with all that the journal holds.
pub(super) fn from_journal(journal: &Journal) -> Result<Box<dyn Store>, CacheError> {
    let mut store = MemoryStore::new();
    journal::read::<CacheError>(journal.path(), 0, &mut |position, record| {
        Ok(state::apply(&mut store, &record, position)?)
    })?;
    Ok(Box::new(store))
}
