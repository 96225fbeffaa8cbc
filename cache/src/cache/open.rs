//! Opening a cache: bringing journal and store together, whatever state either is in.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::CacheError;
use crate::journal::{self, Journal, JournalError, Survey};
use crate::lock::Waiting;
use crate::probe::{self, ProbeCommand, Probed};
use crate::set_aside;
use crate::store::{MemoryStore, Position, STORE_SCHEMA, SledStore, Store, StoreError, state};
use crate::warning::Warning;

/// Name of the journal in the cache's folder.
pub(super) const JOURNAL: &str = "journal.kiln";
/// Name of the database in the cache's folder.
pub(super) const STORE: &str = "store.sled";

/// Between two attempts to open a locked database.
const PAUSE: Duration = Duration::from_millis(25);

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
            lock_deadline: Some(Duration::ZERO),
            on_wait: Box::new(|_| {}),
        }
    }
}

impl<'a> OpenOptions<'a> {
    /// No probe, ten seconds for the database, and an error at once if the cache is in use.
    pub fn new() -> OpenOptions<'a> {
        OpenOptions::default()
    }

    /// Opens the database in a child process first, which can be killed if it is stuck.
    #[must_use]
    pub fn probe(mut self, command: ProbeCommand) -> Self {
        self.probe = Some(command);
        self
    }

    /// How long the database may take to open, and to become free; ten seconds unless told.
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

/// The database as it was found.
struct Found {
    store: Box<dyn Store>,
    /// Where it was moved and why, if it could not be used.
    aside: Option<(PathBuf, StoreError)>,
    /// Whether it is on disk: a journal is mended only from a store that lasts.
    lasting: bool,
}

impl Found {
    fn on_disk(store: SledStore, aside: Option<(PathBuf, StoreError)>) -> Found {
        Found {
            store: Box::new(store),
            aside,
            lasting: true,
        }
    }

    fn in_memory(error: &StoreError, warnings: &mut Vec<Warning>) -> Found {
        warnings.push(Warning::StoreUnavailable {
            reason: error.to_string(),
        });
        Found {
            store: Box::new(MemoryStore::new()),
            aside: None,
            lasting: false,
        }
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
    let found = open_store(&folder.join(STORE), options, warnings)?;
    let mut store = found.store;
    if let Err(error) = reconcile(&journal, &survey, store.as_mut(), warnings).and_then(|known| {
        match found.lasting {
            true => mend(&mut journal, &survey, known, store.as_mut(), warnings),
            false => Ok(()),
        }
    }) {
        let CacheError::Store(error) = error else {
            return Err(error);
        };
        store = from_journal(&journal)?;
        warnings.push(Warning::StoreUnavailable {
            reason: error.to_string(),
        });
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
    let id = journal.id();
    journal::read::<CacheError>(journal.path(), 0, &mut |sequence, record| {
        let journal = id;
        let position = Position { journal, sequence };
        Ok(state::apply(&mut store, &record, position)?)
    })?;
    Ok(Box::new(store))
}

/// Opens the database; sets aside one that cannot be used, and makes a new one.
fn open_store(
    path: &Path,
    options: &OpenOptions<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Found, CacheError> {
    let mut aside = None;
    if path.symlink_metadata().is_ok() {
        match open_existing(path, options, warnings) {
            Ok(store) => return Ok(Found::on_disk(store, aside)),
            Err(StoreError::Locked { path }) => {
                let process = None;
                return Err(CacheError::InUse { path, process });
            }
            // Nothing is known against the content: leave it where it is.
            Err(error @ StoreError::Failed { .. }) => {
                return Ok(Found::in_memory(&error, warnings));
            }
            Err(error) => match set_aside::rename(path, label(&error)) {
                Ok(moved_to) => aside = Some((moved_to, error)),
                Err(_) => return Ok(Found::in_memory(&error, warnings)),
            },
        }
    }
    Ok(match SledStore::open_within(path, options.deadline) {
        Ok(store) => Found::on_disk(store, aside),
        Err(error) => Found {
            aside,
            ..Found::in_memory(&error, warnings)
        },
    })
}

fn label(error: &StoreError) -> &'static str {
    match error {
        StoreError::Newer { .. } => "newer",
        _ => "corrupt",
    }
}

/// Opens a database that is there, waiting for it to become free.
fn open_existing(
    path: &Path,
    options: &OpenOptions<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<SledStore, StoreError> {
    let began = Instant::now();
    loop {
        let opened = probe(path, options, warnings)
            .and_then(|()| SledStore::open_within(path, options.deadline));
        match opened {
            Err(StoreError::Locked { .. }) if began.elapsed() < options.deadline => {
                std::thread::sleep(PAUSE);
            }
            opened => return opened,
        }
    }
}

fn probe(
    path: &Path,
    options: &OpenOptions<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<(), StoreError> {
    let Some(command) = &options.probe else {
        return Ok(());
    };
    match probe::ask(command, path, options.deadline) {
        Probed::Sound => Ok(()),
        Probed::Damaged(what) => Err(StoreError::Damaged { what }),
        Probed::Newer => Err(StoreError::Newer {
            found: "unknown to this version".into(),
            known: STORE_SCHEMA,
        }),
        Probed::Locked => Err(StoreError::Locked { path: path.into() }),
        Probed::Failed => Err(StoreError::Failed {
            reason: "the operating system refused to open it".into(),
        }),
        Probed::NotRun(error) => {
            let reason = error.to_string();
            warnings.push(Warning::ProbeNotRun { reason });
            Ok(())
        }
    }
}

/// Brings the store up to the journal's last record. Returns up to which record it knew already.
fn reconcile(
    journal: &Journal,
    survey: &Survey,
    store: &mut dyn Store,
    warnings: &mut Vec<Warning>,
) -> Result<u64, CacheError> {
    let before = store.totals();
    let known = known_sequence(survey, before.position);
    if known.is_none() {
        store.clear()?;
    }
    let known = known.unwrap_or(0);
    let id = journal.id();
    let replayed = journal::read::<CacheError>(journal.path(), known, &mut |sequence, record| {
        let journal = id;
        let position = Position { journal, sequence };
        Ok(state::apply(store, &record, position)?)
    })?;
    if replayed.undecodable > 0 {
        let records = replayed.undecodable;
        warnings.push(Warning::Undecodable { records });
    }
    let entries = store.totals().entries;
    if before.entries > 0 && known == 0 && before.position.is_some_and(|p| p.journal != id) {
        warnings.push(Warning::StoreReplaced { entries });
    } else if replayed.records > 0 && before.position.is_some() {
        let records = replayed.records;
        warnings.push(Warning::StoreBehind { records });
    }
    Ok(known)
}

/// Up to which record of this journal the store is complete; nothing if it followed another journal.
fn known_sequence(survey: &Survey, position: Option<Position>) -> Option<u64> {
    match (position, survey.journal) {
        (None, _) => Some(0),
        // No record is left to tell which journal it was: what the store has is all there is.
        (Some(position), None) => Some(position.sequence),
        (Some(position), Some(id)) => (position.journal == id).then_some(position.sequence),
    }
}

/// Writes the journal anew from the store if any of it is damaged or gone.
fn mend(
    journal: &mut Journal,
    survey: &Survey,
    known: u64,
    store: &mut dyn Store,
    warnings: &mut Vec<Warning>,
) -> Result<(), CacheError> {
    let cut_short = known > survey.last + survey.damaged_tail;
    let damaged = survey.damaged > 0 || !survey.missing.is_empty();
    if survey.torn_bytes > 0 && known <= survey.last {
        let bytes = survey.torn_bytes;
        warnings.push(Warning::TornRecord { bytes });
    }
    if !cut_short && !damaged {
        return Ok(());
    }
    let keep = damaged.then(|| kept_name(journal)).transpose()?;
    journal.rewrite(&state::records(store)?, keep.as_deref())?;
    let position = Position {
        journal: journal.id(),
        sequence: journal.last(),
    };
    store.apply(&[], position)?;
    if cut_short {
        warnings.push(Warning::JournalCutShort {
            found: survey.last,
            expected: known,
        });
    }
    if let Some(kept_at) = keep {
        let lost = survey.lost_after(known);
        warnings.push(Warning::JournalDamaged {
            damaged: survey.damaged,
            restored: survey.lost_after(0).saturating_sub(lost),
            lost,
            kept_at,
        });
    }
    Ok(())
}

fn kept_name(journal: &Journal) -> Result<PathBuf, CacheError> {
    set_aside::next_name(journal.path(), "damaged").map_err(|source| {
        CacheError::Journal(JournalError::Append {
            path: journal.path().into(),
            source,
        })
    })
}
