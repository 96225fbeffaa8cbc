//! Reads and verifies segments that belong to no plan.

use crate::object;
use crate::reject::RejectReason;
use crate::segment::{MAX_SEGMENT_BYTES, Segment};
use crate::sign::PublicKey;
use crate::signed::{Signed, hash_in};
use crate::store::ObjectStore;

/// A segment, its bytes and its signature, as they are stored.
pub(super) struct SignedSegment {
    pub segment: Segment,
    pub bytes: Vec<u8>,
    pub signature: String,
}

/// Reads and verifies a segment that belongs to no plan. It is an error if `may_sign` returns `false` for the key that
/// signed the segment.
pub(super) fn signed(
    store: &dyn ObjectStore,
    name: &str,
    may_sign: &dyn Fn(&PublicKey) -> bool,
) -> Result<SignedSegment, RejectReason> {
    let hash = hash_in(name, ".seg")?;
    let signed = Signed::read(store, name, MAX_SEGMENT_BYTES, &|key| {
        may_sign(key)
            .then_some(())
            .ok_or_else(|| RejectReason::NotAllowed {
                found: key.fingerprint(),
            })
    })?;
    let Signed {
        bytes,
        signature,
        key,
    } = signed;
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
    Ok(SignedSegment {
        segment,
        bytes,
        signature,
    })
}
