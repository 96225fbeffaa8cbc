//! One segment at a time, from a store to verified records. Nothing is parsed before its signature is verified.

use crate::collect::RejectReason;
use crate::object;
use crate::segment::{MAX_SEGMENT_BYTES, Segment};
use crate::sign::{MAX_SIGNATURE_BYTES, PublicKey, signer, verify};
use crate::store::ObjectStore;
use crate::text::is_hex;

/// A segment, and its objects as they are stored.
pub(super) struct Signed {
    pub segment: Segment,
    pub bytes: Vec<u8>,
    pub signature: Vec<u8>,
}

/// Reads and verifies a segment without a plan, if its key is one that `may_sign`. Of others only the signature is
/// fetched.
pub(super) fn signed(
    store: &dyn ObjectStore,
    name: &str,
    may_sign: &dyn Fn(&PublicKey) -> bool,
) -> Result<Signed, RejectReason> {
    let hash = hash_in(name)?;
    let signature = store.get(&object::signature(name), MAX_SIGNATURE_BYTES)?;
    let signature = signature.ok_or(RejectReason::Unsigned)?;
    let text = std::str::from_utf8(&signature).map_err(|_| RejectReason::NotText)?;
    let key = signer(text)?;
    if !may_sign(&key) {
        let found = key.fingerprint();
        return Err(RejectReason::NotAllowed { found });
    }
    let bytes = store.get(name, MAX_SEGMENT_BYTES)?;
    let bytes = bytes.ok_or(RejectReason::Gone)?;
    verify(&bytes, text, &key)?;
    let mut segment = Segment::parse(&bytes, hash)?;
    if segment.header.plan != object::NO_PLAN {
        return Err(RejectReason::OtherPlan {
            found: segment.header.plan,
            expected: object::NO_PLAN.into(),
        });
    }
    if segment.object() != name {
        let expected = segment.object();
        return Err(RejectReason::Name { expected });
    }
    segment.author = key.fingerprint();
    Ok(Signed {
        segment,
        bytes,
        signature,
    })
}

/// The hash in a segment's name.
fn hash_in(name: &str) -> Result<&str, RejectReason> {
    let stem = name.strip_suffix(".seg");
    let hash = stem.and_then(|stem| stem.get(stem.len().checked_sub(64)?..));
    hash.filter(|hash| is_hex(hash, 64))
        .ok_or_else(|| RejectReason::Name {
            expected: "…HASH.seg".into(),
        })
}
