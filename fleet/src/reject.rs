//! Why a merge or a pull rejects an object of a store.

use thiserror::Error;

use crate::segment::SegmentError;
use crate::sign::SignError;
use crate::statement::StatementError;
use crate::store::StoreError;

/// Why a merge or a pull rejects an object of a store.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RejectReason {
    /// The object's name does not match its content, or has the wrong form.
    #[error("its name does not match its content: the content requires {expected}")]
    Name {
        /// The name that the content requires, or the form of a valid name.
        expected: String,
    },
    /// The object has no signature. Its writer may still be uploading the signature.
    #[error("it has no signature yet")]
    Unsigned,
    /// The object is a signature, but the object that it signs is not in the store.
    #[error("it is a signature, but the object that it signs is not in the store")]
    NoObject,
    /// The object was listed, but was removed before it was read.
    #[error("it was removed while it was read")]
    Gone,
    /// The plan has expired.
    #[error(
        "the plan expired at {expired_unix_s}, and the time is now {now_unix_s} (both in seconds since 1970)"
    )]
    Expired {
        /// When the plan expired, in seconds since 1970.
        expired_unix_s: u64,
        /// The time of the machine that merges, in seconds since 1970.
        now_unix_s: u64,
    },
    /// The object is not signed by a worker key of the plan.
    #[error("it is signed by {found}, which is not a worker key of the plan")]
    Signer {
        /// Fingerprint of the key that signed the object.
        found: String,
    },
    /// The object is signed by a key that is not an allowed signer.
    #[error("it is signed by {found}, which is not an allowed signer")]
    NotAllowed {
        /// Fingerprint of the key that signed the object.
        found: String,
    },
    /// The signature is invalid.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// The segment is invalid.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// The statement is invalid.
    #[error(transparent)]
    Statement(#[from] StatementError),
    /// The object belongs to another plan.
    #[error("it belongs to plan {found}, not {expected}")]
    OtherPlan {
        /// Identity of the object's plan.
        found: String,
        /// Identity of the plan that is merged; `none` in a pull.
        expected: String,
    },
    /// The object names an element that the plan does not have.
    #[error(
        "it belongs to element {element}, but the plan has {elements} elements, counted from 0"
    )]
    NoElement {
        /// Number of the element that the object names.
        element: u32,
        /// Number of elements that the plan has.
        elements: usize,
    },
    /// The statement is about a task or config that its element does not have.
    #[error("it is about {what}, which the plan does not assign to element {element}")]
    OtherTask {
        /// Number of the element.
        element: u32,
        /// Kernel, problem, config and device of the statement.
        what: String,
    },
    /// The object is not UTF-8 text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// The object could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}
