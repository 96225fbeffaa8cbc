//! Collects and verifies all objects of a plan in a store.

mod error;
mod history;
mod read;
mod seen;

use std::collections::BTreeSet;

use rayon::prelude::*;

pub use error::CollectError;
pub use history::{Fork, Gap};
pub use seen::{Rollback, Seen};

use crate::plan::Plan;
use crate::reject::RejectReason;
use crate::segment::Segment;
use crate::statement::Statement;
use crate::store::ObjectStore;
use crate::{object, segment, signed};

/// The valid objects of a plan in a store, and what is wrong with the others. The order in which the objects were
/// written does not matter.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Collected {
    /// The valid segments, sorted by journal and sequence number. They may overlap.
    pub segments: Vec<Segment>,
    /// The valid statements.
    pub statements: Vec<SignedStatement>,
    /// Objects that were rejected, and why.
    pub rejected: Vec<Rejected>,
    /// Entries of the store that are not objects.
    pub ignored: Vec<String>,
    /// Ranges of records that no segment has, although a segment has later records of the same journal.
    pub gaps: Vec<Gap>,
    /// Journals with two histories.
    pub forks: Vec<Fork>,
    /// Journals of which the store has fewer records than an earlier merge saw.
    pub rollbacks: Vec<Rollback>,
}

/// A statement and its signature.
#[derive(Clone, Debug)]
pub struct SignedStatement {
    /// The statement.
    pub statement: Statement,
    /// The signature, as it is stored.
    pub signature: String,
    /// Fingerprint of the key that signed the statement.
    pub author: String,
}

/// A rejected object.
#[derive(Debug)]
pub struct Rejected {
    /// The object's name in the store.
    pub name: String,
    /// Why the object was rejected.
    pub why: RejectReason,
}

/// Fetches and verifies all segments and statements of a plan. `now_unix_s` is this machine's time, in seconds since
/// 1970; after the plan's expiry, all objects are rejected. `seen` has the highest sequence number of each journal that
/// earlier merges saw. `collect` compares the store with these numbers, and then updates them.
///
/// # Errors
/// The plan is invalid, or the store cannot be listed. An object that cannot be read is not an error; it is listed in
/// [`Collected::rejected`].
pub fn collect(
    store: &dyn ObjectStore,
    plan: &Plan,
    now_unix_s: u64,
    seen: &mut Seen,
) -> Result<Collected, CollectError> {
    let reader = read::Reader::new(store, plan, now_unix_s)?;
    let mut collected = Collected::default();
    let names = list(store, &object::segments(reader.id()), &mut collected)?;
    let read = names.par_iter().map(|name| reader.segment(name));
    for result in read.collect::<Vec<_>>() {
        match result {
            Ok(segment) => collected.segments.push(segment),
            Err(rejected) => collected.rejected.push(rejected),
        }
    }
    let names = list(store, &object::statements(reader.id()), &mut collected)?;
    let read = names.par_iter().map(|name| reader.statement(name));
    for result in read.collect::<Vec<_>>() {
        match result {
            Ok(statement) => collected.statements.push(statement),
            Err(rejected) => collected.rejected.push(rejected),
        }
    }
    sort(&mut collected.segments);
    collected.rejected.sort_by(|a, b| a.name.cmp(&b.name));
    (collected.gaps, collected.forks) = history::check(&collected.segments);
    collected.rollbacks = seen.update(reader.id(), &collected.segments);
    Ok(collected)
}

/// The valid segments of some journals, sorted by journal and sequence number. Invalid segments are skipped, because
/// [`collect`] reports them. The plan's expiry is not checked here, because workers call this function and a worker's
/// clock may be wrong; [`collect`] checks it.
///
/// # Errors
/// The plan is invalid, or the store cannot be listed.
pub fn segments_of(
    store: &dyn ObjectStore,
    plan: &Plan,
    journals: &[u64],
) -> Result<Vec<Segment>, CollectError> {
    let reader = read::Reader::new(store, plan, 0)?;
    let mut segments = Vec::new();
    for journal in journals {
        let prefix = format!("{}{journal:016x}/", object::segments(reader.id()));
        let names = list(store, &prefix, &mut Collected::default())?;
        segments.extend(names.iter().filter_map(|name| reader.segment(name).ok()));
    }
    sort(&mut segments);
    Ok(segments)
}

/// The names of the objects below a prefix, without the names of signatures. A signature whose object is missing is
/// added to [`Collected::rejected`].
fn list(
    store: &dyn ObjectStore,
    prefix: &str,
    collected: &mut Collected,
) -> Result<Vec<String>, CollectError> {
    let listing = store.list(prefix)?;
    collected.ignored.extend(listing.ignored);
    let (signatures, names): (Vec<String>, Vec<String>) = listing
        .names
        .into_iter()
        .partition(|name| name.ends_with(".sig"));
    let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let of_none = |name: &&String| {
        let object = name.strip_suffix(".sig").unwrap_or_default();
        !known.contains(object)
    };
    for name in signatures.iter().filter(of_none) {
        collected.rejected.push(Rejected {
            name: name.clone(),
            why: RejectReason::NoObject,
        });
    }
    Ok(names)
}

fn sort(segments: &mut [Segment]) {
    segments.sort_by_cached_key(|segment| {
        let (first, last) = (segment.header.first, segment.header.last);
        (segment.journal, first, last, segment.name.clone())
    });
}

/// The bytes of a segment that [`collect`] returned, for example to keep a copy.
///
/// # Errors
/// The store does not have the segment any more, has other bytes, or does not answer.
pub fn bytes_of(store: &dyn ObjectStore, segment: &Segment) -> Result<Vec<u8>, CollectError> {
    let name = segment.object();
    let bytes = store.get(&name, segment::MAX_SEGMENT_BYTES)?;
    match bytes {
        Some(bytes) if object::name_of(&bytes) == segment.name => Ok(bytes),
        _ => Err(CollectError::Changed { name }),
    }
}

/// A signed plan from a store.
#[derive(Clone, Debug)]
pub struct SignedPlan {
    /// The plan.
    pub plan: Plan,
    /// The plan's canonical text.
    pub text: String,
    /// The signature of the text.
    pub signature: String,
}

/// Writes a plan and its signature to a store, and returns the plan's name there.
///
/// # Errors
/// The plan is invalid, or the store does not accept it.
pub fn put_plan(
    store: &dyn ObjectStore,
    plan: &Plan,
    signature: &str,
) -> Result<String, CollectError> {
    let name = object::plan(&plan.id());
    store.put(&name, plan.to_text()?.as_bytes())?;
    store.put(&object::signature(&name), signature.as_bytes())?;
    Ok(name)
}

/// Reads a plan and its signature from a store, by the plan's identity. The signature is not verified; the caller must
/// do that.
///
/// # Errors
/// The store does not answer, does not have the plan or its signature, or has another text under this name.
pub fn get_plan(store: &dyn ObjectStore, id: &str) -> Result<SignedPlan, CollectError> {
    let name = object::plan(id);
    let missing = |name: &str| CollectError::NoPlan { name: name.into() };
    let text = signed::text(store, &name, crate::plan::MAX_PLAN_BYTES)?;
    let text = text.ok_or_else(|| missing(&name))?;
    let plan = Plan::parse(&text)?;
    let found = plan.id();
    if found != id {
        let expected = id.into();
        return Err(CollectError::OtherPlan { expected, found });
    }
    let name = object::signature(&name);
    let signature = signed::text(store, &name, crate::sign::MAX_SIGNATURE_BYTES)?;
    let signature = signature.ok_or_else(|| missing(&name))?;
    Ok(SignedPlan {
        plan,
        text,
        signature,
    })
}

#[cfg(test)]
mod tests;
