//! Opens a cache and makes its journal and its store consistent, whatever state they are in.

use std::path::{Path, PathBuf};

use super::folder::{JOURNAL, STORE};
use super::options::OpenOptions;
use super::{database, reconcile};
use crate::error::CacheError;
use crate::journal::{self, Journal};
use crate::store::{MemoryStore, Store, StoreError, state};
use crate::warning::Warning;

/// Opens the journal and the store in `folder`, whose lock is held, and makes them consistent.
pub(super) fn open(
    folder: &Path,
    options: &OpenOptions<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<(Journal, Box<dyn Store>), CacheError> {
    // The journal is opened first. If a newer version wrote it, this fails before anything is changed.
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

/// A store in memory with all records of the journal.
pub(super) fn from_journal(journal: &Journal) -> Result<Box<dyn Store>, CacheError> {
    let mut store = MemoryStore::new();
    journal::read::<CacheError>(journal.path(), 0, &mut |position, record| {
        Ok(state::apply(&mut store, &record, position)?)
    })?;
    Ok(Box::new(store))
}
