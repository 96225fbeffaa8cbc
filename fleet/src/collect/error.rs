//! Why a merge failed.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::plan::PlanError;
use crate::sign::SignError;
use crate::store::StoreError;

/// Why objects of a plan could not be collected, or a plan could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CollectError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The plan is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A worker key of the plan is invalid.
    #[error(transparent)]
    Key(#[from] SignError),
    /// The store does not have the plan or its signature.
    #[error(
        "the store has no {name}\nhelp: publish the plan with `tune fleet plan`, or check the store's location"
    )]
    NoPlan {
        /// Name of the missing object.
        name: String,
    },
    /// The store has another plan under the name of the requested plan.
    #[error(
        "the store names plan {expected}, but the plan's content has the hash {found}\n\
         help: somebody replaced the plan: get it again from whoever signed it"
    )]
    OtherPlan {
        /// The plan's expected identity.
        expected: String,
        /// The identity of the plan that is in the store.
        found: String,
    },
    /// An object was removed or changed after it was verified.
    #[error(
        "{name} was removed from the store or changed since it was verified\nhelp: run `tune fleet merge` again"
    )]
    Changed {
        /// Name of the object.
        name: String,
    },
    /// The record of earlier merges ([`Seen`](super::Seen)) could not be read or written.
    #[error(
        "cannot {what} {path}: {source}\nhelp: check its permissions, or set KILN_CACHE to another folder"
    )]
    Seen {
        /// The attempted operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The record of earlier merges is damaged.
    #[error(
        "{path} is not a record of what earlier merges saw: {why}\n\
         help: remove it; the next merge writes it anew, but does not notice if the store was set back"
    )]
    SeenForm {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}
