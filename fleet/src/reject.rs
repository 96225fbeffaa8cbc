//! Why single objects of a store do not count.

use thiserror::Error;

use crate::segment::SegmentError;
use crate::sign::SignError;
use crate::statement::StatementError;
use crate::store::StoreError;

/// Why an object does not count.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RejectReason {
    /// Its name is none of an object of its kind.
    #[error("its name is not the one that its content has: {expected}")]
    Name {
        /// The name that it must have, or the form of one.
        expected: String,
    },
    /// It has no signature, or none yet.
    #[error("it has no signature yet")]
    Unsigned,
    /// It is a signature of nothing.
    #[error("it is a signature, and its object is not in the store")]
    NoObject,
    /// It was listed and is gone.
    #[error("it was removed while it was read")]
    Gone,
    /// The plan's keys have expired.
    #[error("the plan expired at {expired_unix_s}, it is {now_unix_s} (seconds since 1970)")]
    Expired {
        /// When, in seconds since 1970.
        expired_unix_s: u64,
        /// The merging machine's time, in seconds since 1970.
        now_unix_s: u64,
    },
    /// It is not signed by a worker of the plan.
    #[error("it is signed by {found}, which is none of the plan's worker keys")]
    Signer {
        /// The fingerprint of its key.
        found: String,
    },
    /// It is signed by somebody who may not.
    #[error("it is signed by {found}, who is none of the allowed signers")]
    NotAllowed {
        /// The fingerprint of the key.
        found: String,
    },
    /// The signature is wrong.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// The segment is wrong.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// The statement is wrong.
    #[error(transparent)]
    Statement(#[from] StatementError),
    /// It is of another plan.
    #[error("it is of plan {found}, not {expected}")]
    OtherPlan {
        /// Its plan.
        found: String,
        /// The plan that is merged.
        expected: String,
    },
    /// The plan has no such element.
    #[error("it is of element {element}, the plan has {elements}")]
    NoElement {
        /// Its element.
        element: u32,
        /// Number of elements.
        elements: usize,
    },
    /// The element did not have this to state.
    #[error("it is of {what}, which element {element} was not given")]
    OtherTask {
        /// The element.
        element: u32,
        /// What it states.
        what: String,
    },
    /// It is not text.
    #[error("it is not UTF-8")]
    NotText,
    /// It could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}
