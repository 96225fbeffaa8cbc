//! Collecting: everything of a plan that a store holds, verified.

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

/// What a store holds of a plan. Equal contents give equal values, in whatever order they were written.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Collected {
    /// The segments that count, by journal and sequence number. They may overlap.
    pub segments: Vec<Segment>,
    /// The statements that count.
    pub statements: Vec<SignedStatement>,
    /// Objects that do not count, and why.
    pub rejected: Vec<Rejected>,
    /// Files of the store that are not objects.
    pub ignored: Vec<String>,
    /// Records that no segment has, before others that one has.
    pub gaps: Vec<Gap>,
    /// Journals with two histories.
    pub forks: Vec<Fork>,
    /// Journals of which the store holds less than it did before.
    pub rollbacks: Vec<Rollback>,
}

/// A statement, its text and its signature.
#[derive(Clone, Debug)]
pub struct SignedStatement {
    /// The statement.
    pub statement: Statement,
    /// Its signature, as stored.
    pub signature: String,
    /// Fingerprint of the key that signed it.
    pub author: String,
}

/// An object that does not count.
#[derive(Debug)]
pub struct Rejected {
    /// Its name in the store.
    pub name: String,
    /// Why.
    pub why: RejectReason,
}

/// Fetches and verifies everything of a plan that a store holds. `now_unix_s` is this machine's time: after the
/// plan's expiry nothing counts. `seen` remembers how much of each journal there was, and is brought up to date.
///
/// # Errors
/// If the store cannot be listed. An object that cannot be read is rejected by name.
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

/// The segments of some journals that workers of the plan signed, by journal and sequence number. Others are passed over,
/// since [`collect`] names them. No clock is asked, because that of a worker may be wrong: only a merge enforces the
/// plan's expiry.
///
/// # Errors
/// If the store cannot be listed, or the plan is invalid.
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

/// The objects below a prefix, without their signatures. A signature of no object is rejected.
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

/// The bytes of a segment that [`collect`] took, for a copy of one's own.
///
/// # Errors
/// If the store no longer has it, or has other bytes.
pub fn bytes_of(store: &dyn ObjectStore, segment: &Segment) -> Result<Vec<u8>, CollectError> {
    let name = segment.object();
    let bytes = store.get(&name, segment::MAX_SEGMENT_BYTES)?;
    match bytes {
        Some(bytes) if object::name_of(&bytes) == segment.name => Ok(bytes),
        _ => Err(CollectError::Changed { name }),
    }
}

/// A signed plan that was read from a store.
#[derive(Clone, Debug)]
pub struct SignedPlan {
    /// The plan.
    pub plan: Plan,
    /// Its text.
    pub text: String,
    /// Its signature.
    pub signature: String,
}

/// Puts a plan and its signature into a store.
///
/// # Errors
/// A plan that is refused, or a store that does not take it.
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

/// Reads a plan and its signature from a store, by the plan's identity. Who signed it is for the caller to check.
///
/// # Errors
/// If the store has none, or another plan under its name.
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
