//! Publishing a journal without a plan.

use std::collections::BTreeMap;
use std::path::Path;

use kiln_cache::journal::{self, JournalError};
use kiln_cache::store::Position;
use thiserror::Error;

use super::{Progress, Report, read};
use crate::object;
use crate::publish::{PublishError, Published, Publisher};
use crate::reject::RejectReason;
use crate::segment::Header;
use crate::sign::{Signer, random_name};
use crate::store::{ObjectStore, StoreError};

/// What a push did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// The journal's identity; 0 if it has no record.
    pub journal: u64,
    /// Sequence number of its last record in the store.
    pub last: u64,
    /// Records up to this number were in the store before.
    pub known: u64,
    /// Segments that were published now.
    pub segments: u32,
    /// An object that somebody replaced, if one stood in the way. The records were published under another name.
    pub replaced: Option<String>,
}

/// Why a journal was not pushed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PushError {
    /// The journal could not be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// It could not be published.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Publishes the records of a journal that the store does not have yet with a signature of `key`. `observer` says which
/// machine pushes; its records say which device measured.
///
/// It can be killed at any moment and run any number of times, also by several processes at once: segments are only
/// added, and the next push adds what is missing.
///
/// # Errors
/// An unreadable journal, or a store that does not answer: what was published before stays published.
pub fn push(
    store: &dyn ObjectStore,
    key: &Signer,
    journal: &Path,
    observer: &BTreeMap<String, String>,
    report: Report<'_>,
) -> Result<Pushed, PushError> {
    let places = places(journal)?;
    let Some(id) = places.first().map(|place| place.journal) else {
        return Ok(Pushed::default());
    };
    let known = known(&places, &published(store, key, id)?);
    let done = known.map_or(0, |known| known.sequence);
    let new = places.iter().filter(|place| place.sequence > done);
    report(Progress::Planned(new.count()));
    let publish = |attempt: &str| {
        let (plan, observer) = (object::NO_PLAN, observer.clone());
        let mut publisher = Publisher::new(store, key.clone(), plan, 0, attempt, observer);
        if let Some(known) = known {
            publisher.continue_after(known);
        }
        publisher.publish_with(journal, &mut |records| report(Progress::Done(records)))
    };
    // The same for every push of a journal, so that one that was killed leaves nothing behind that the next one does
    // not complete.
    let usual = &object::name_of(format!("share {id:016x}").as_bytes())[..32];
    let (published, replaced) = match publish(usual) {
        Err(PublishError::Store(StoreError::Exists { name, .. })) => {
            (publish(&random_name())?, Some(name))
        }
        published => (published?, None),
    };
    let Published { last, segments, .. } = published;
    Ok(Pushed {
        journal: id,
        last,
        known: done,
        segments,
        replaced,
    })
}

/// The identity of a journal; nothing if it has no record.
///
/// # Errors
/// An unreadable journal.
pub fn journal_id(journal: &Path) -> Result<Option<u64>, JournalError> {
    let read = journal::read::<JournalError>(journal, u64::MAX, &mut |_, _| Ok(()))?;
    Ok(read.survey.journal)
}

/// The places of a journal's sound records.
fn places(journal: &Path) -> Result<Vec<Position>, JournalError> {
    let mut places = Vec::new();
    journal::read::<JournalError>(journal, 0, &mut |place, _| {
        places.push(place);
        Ok(())
    })?;
    Ok(places)
}

/// The segments of a journal that the store has with a signature of the key. What does not verify is missing.
fn published(
    store: &dyn ObjectStore,
    key: &Signer,
    journal: u64,
) -> Result<Vec<Header>, StoreError> {
    let own = key.public();
    let folder = format!("{}{journal:016x}/", object::segments(object::NO_PLAN));
    let mut headers = Vec::new();
    for name in store.list(&folder)?.names {
        if !name.ends_with(".seg") {
            continue;
        }
        match read::signed(store, &name, &|key| *key == own) {
            Ok(signed) => headers.push(signed.segment.header),
            Err(RejectReason::Store(error)) if error.is_passing() => {
                return Err(error);
            }
            Err(_) => {}
        }
    }
    Ok(headers)
}

/// The last record up to which segments have all of a journal's records.
fn known(places: &[Position], headers: &[Header]) -> Option<Position> {
    let mut headers: Vec<&Header> = headers
        .iter()
        .filter(|header| is_of(header, places))
        .collect();
    headers.sort_by_key(|header| header.first);
    let mut next = 0;
    for header in headers {
        let wanted = places.get(next)?.sequence;
        if (header.first..=header.last).contains(&wanted) {
            next = places.partition_point(|place| place.sequence <= header.last);
        }
        if next == places.len() {
            break;
        }
    }
    places.get(next.checked_sub(1)?).copied()
}

/// Whether a segment is of the history that the journal has: a copy of a cache goes on differently.
fn is_of(header: &Header, places: &[Position]) -> bool {
    let at = places.binary_search_by_key(&header.last, |place| place.sequence);
    at.is_ok_and(|at| places[at].chain == header.chain_after)
}
