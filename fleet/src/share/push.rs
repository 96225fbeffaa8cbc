//! Publishes a journal that belongs to no plan.

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

/// The result of a push.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// The journal's identity; 0 if the journal has no records.
    pub journal: u64,
    /// Sequence number of the journal's last record in the store.
    pub last: u64,
    /// Sequence number of the last record that the store had before this push.
    pub known: u64,
    /// Number of segments that this push published.
    pub segments: u32,
    /// Name of an object that somebody had replaced; `None` normally. The records were published again under another
    /// name.
    pub replaced: Option<String>,
}

/// Why a journal was not pushed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PushError {
    /// The journal could not be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal could not be published.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Publishes those records of a journal that the store does not yet have in a segment signed with `key`. `observer`
/// describes the machine that pushes. The records contain the device that measured, which may belong to another
/// machine.
///
/// A push can be killed at any moment and repeated any number of times, also by several processes at once. It only adds
/// segments, and the next push adds those that are missing.
///
/// # Errors
/// The journal is unreadable, a segment cannot be created or signed, or the store does not answer. Segments that were
/// published before the error stay published.
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
    // Every push of a journal uses the same attempt. A push after a killed push therefore writes objects with the same
    // names, and so completes the killed push.
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

/// The identity of a journal; `None` if the journal has no records.
///
/// # Errors
/// The journal is unreadable.
pub fn journal_id(journal: &Path) -> Result<Option<u64>, JournalError> {
    let read = journal::read::<JournalError>(journal, u64::MAX, &mut |_, _| Ok(()))?;
    Ok(read.survey.journal)
}

/// The positions of a journal's undamaged records.
fn places(journal: &Path) -> Result<Vec<Position>, JournalError> {
    let mut places = Vec::new();
    journal::read::<JournalError>(journal, 0, &mut |place, _| {
        places.push(place);
        Ok(())
    })?;
    Ok(places)
}

/// The headers of the journal's segments that the store has with a valid signature of `key`. Invalid segments are
/// treated as missing.
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

/// Returns the position of the last record of the journal that the segments contain without a gap from the first record
/// on; `None` if they lack the first record.
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

/// Whether a segment belongs to the same history as the journal. A copied cache has the same journal identity, but may
/// continue differently.
fn is_of(header: &Header, places: &[Position]) -> bool {
    let at = places.binary_search_by_key(&header.last, |place| place.sequence);
    at.is_ok_and(|at| places[at].chain == header.chain_after)
}
