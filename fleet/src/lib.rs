//! Tuning on many machines. A signed plan lists the elements of the work; each element publishes signed segments of
//! its journal to a store; a merge verifies them, takes their union, and decides what is proven.
//!
//! The crate opens no device and starts no process. It trusts nobody but the holders of the plan's keys, and of
//! those no single device: a row is proven if as many distinct observers as the plan asks for have proven it.
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod canonical;
pub mod collect;
pub mod decide;
pub mod engine;
pub mod fold;
pub mod object;
pub mod plan;
pub mod proof;
pub mod publish;
mod reject;
pub mod segment;
pub mod share;
pub mod sign;
mod signed;
pub mod statement;
pub mod store;
mod text;

pub use collect::{CollectError, Collected, Rejected, Seen, SignedPlan, SignedStatement, collect};
pub use decide::{Decision, SessionResult, TaskDecision, decide, next};
pub use engine::{Engine, EngineError, JobOptions, render};
pub use fold::{Observations, fold};
pub use plan::{Distinct, Element, KernelRef, Kind, Plan, PlanError, Settings, Stage, TaskRef};
pub use proof::{Proof, ProofError, ProofProblem, RowClaim};
pub use publish::{PublishError, Published, Publisher};
pub use reject::RejectReason;
pub use segment::{Header, Segment, SegmentError};
pub use share::{Imported, Imports, Pulled, PushError, Pushed, pull, push};
pub use sign::{AllowedSigners, PrivateKey, PublicKey, SignError, Signer, verify};
pub use statement::{Statement, StatementError};
#[cfg(feature = "s3")]
pub use store::S3;
pub use store::{Folder, ObjectStore, StoreError, open};

/// The example of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// The samples and checks of the tests in `tests/` serve the tests in here too.
#[cfg(test)]
extern crate self as kiln_fleet;
#[cfg(test)]
#[path = "../tests/contract/mod.rs"]
mod contract;
#[cfg(test)]
#[path = "../tests/damage/mod.rs"]
mod damage;
#[cfg(test)]
#[path = "../tests/samples/mod.rs"]
mod samples;
