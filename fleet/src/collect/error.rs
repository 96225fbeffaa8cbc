//! Why a merge could not be done.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::plan::PlanError;
use crate::sign::SignError;
use crate::store::StoreError;

/// Why nothing could be collected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CollectError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The plan was refused.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A worker key of the plan was refused.
    #[error(transparent)]
    Key(#[from] SignError),
    /// The store has no such plan.
    #[error(
        "the store has no {name}\nhelp: publish the plan with `tune fleet plan`, or check the store's location"
    )]
    NoPlan {
        /// Its name.
        name: String,
    },
    /// The store has another plan under the name of this one.
    #[error(
        "the store's plan {expected} has the hash {found}\nhelp: somebody replaced it: take the plan from whoever signed it"
    )]
    OtherPlan {
        /// The plan's identity.
        expected: String,
        /// The identity of what is there.
        found: String,
    },
    /// An object is not what it was.
    #[error(
        "{name} was removed from the store or changed since it was verified\nhelp: run `tune fleet merge` again"
    )]
    Changed {
        /// Its name.
        name: String,
    },
    /// The memory of earlier merges could not be used.
    #[error(
        "cannot {what} {path}: {source}\nhelp: check its permissions, or set KILN_CACHE to another folder"
    )]
    Seen {
        /// The attempted operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The memory of earlier merges is damaged.
    #[error(
        "{path} does not say what earlier merges saw: {why}\nhelp: remove it; until the next merge a store that was set back is not noticed"
    )]
    SeenForm {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}
