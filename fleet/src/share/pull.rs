//! Fetches the shared segments of other machines.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::read::{self, SignedSegment};
use super::{Progress, Report};
use crate::collect::Rejected;
use crate::object;
use crate::reject::RejectReason;
use crate::sign::AllowedSigners;
use crate::store::{Folder, ObjectStore, StoreError};

/// The result of a pull.
#[derive(Debug, Default)]
pub struct Pulled {
    /// Number of segments that this call fetched.
    pub segments: usize,
    /// Number of records in these segments.
    pub records: usize,
    /// Number of segments that had been fetched before.
    pub known: usize,
    /// Names of segments without a signature. Another machine is pushing them, or was killed during the push.
    pub unfinished: Vec<String>,
    /// Objects that were rejected, and why.
    pub rejected: Vec<Rejected>,
    /// Entries of the store that are not objects.
    pub ignored: Vec<String>,
    /// The failure of the store or of the folder that prevented a segment from being fetched; `None` if there was none.
    pub stopped: Option<StoreError>,
}

/// Fetches shared segments (those that belong to no plan) into the folder `to`. Only segments that a key in `signers`
/// has signed are fetched. Segments of the journal `own` are skipped. `now_unix_s` is this machine's time, in seconds
/// since 1970.
///
/// A pull can be killed at any moment and repeated any number of times, because it only adds objects and adds each one
/// atomically.
///
/// # Errors
/// The store or the folder cannot be listed. A later failure is not an error: it is in [`Pulled::stopped`], and the
/// other fields describe the segments that were already fetched or rejected.
pub fn pull(
    store: &dyn ObjectStore,
    signers: &AllowedSigners,
    own: Option<u64>,
    to: &Folder,
    now_unix_s: u64,
    report: Report<'_>,
) -> Result<Pulled, StoreError> {
    let folder = object::segments(object::NO_PLAN);
    let listing = store.list(&folder)?;
    let here: BTreeSet<String> = to.list(&folder)?.names.into_iter().collect();
    let own = own.map(|journal| format!("{folder}{journal:016x}/"));
    let is_own = |name: &String| own.as_ref().is_some_and(|own| name.starts_with(own));
    let mut pulled = Pulled {
        ignored: listing.ignored,
        ..Pulled::default()
    };
    let names: BTreeSet<String> = listing
        .names
        .into_iter()
        .filter(|name| !is_own(name))
        .collect();
    pulled.rejected.extend(strays(&names));
    let is_here = |name: &String| here.contains(name) && here.contains(&object::signature(name));
    let objects = names.into_iter().filter(|name| !name.ends_with(".sig"));
    let (known, new): (Vec<String>, Vec<String>) = objects.partition(is_here);
    pulled.known = known.len();
    report(Progress::Planned(new.len()));
    let may_sign = |key: &_| signers.who(key, now_unix_s).is_some();
    let fetched = new.into_par_iter().map(|name| {
        let fetched = read::signed(store, &name, &may_sign);
        let kept = fetched.map(|signed| keep(to, &name, &signed));
        report(Progress::Done(1));
        (name, kept)
    });
    for (name, kept) in fetched.collect::<Vec<_>>() {
        match kept {
            Ok(Ok(records)) => {
                pulled.segments += 1;
                pulled.records += records;
            }
            Ok(Err(error)) => pulled.stopped = Some(error),
            Err(RejectReason::Unsigned) => pulled.unfinished.push(name),
            Err(RejectReason::Store(error)) if error.is_passing() => pulled.stopped = Some(error),
            Err(why) => pulled.rejected.push(Rejected { name, why }),
        }
    }
    pulled.rejected.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(pulled)
}

/// The signatures whose objects are not in the store.
fn strays(names: &BTreeSet<String>) -> impl Iterator<Item = Rejected> {
    let of_nothing = |name: &&String| {
        let object = name.strip_suffix(".sig");
        object.is_some_and(|object| !names.contains(object))
    };
    names.iter().filter(of_nothing).map(|name| Rejected {
        name: name.clone(),
        why: RejectReason::NoObject,
    })
}

/// Stores a segment and its signature, and returns the number of its records.
fn keep(to: &Folder, name: &str, signed: &SignedSegment) -> Result<usize, StoreError> {
    to.put(name, &signed.bytes)?;
    to.put(&object::signature(name), signed.signature.as_bytes())?;
    Ok(signed.segment.records.len())
}
