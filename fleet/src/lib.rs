//! Tuning on many machines.
//!
//! A *plan* lists the work of a fleet in *elements*. An element is the work that a scheduler starts as one job on one
//! device. A person signs the plan. A running element publishes its journal to a store in signed pieces, which are
//! called *segments*. A merge verifies the segments, takes their union, and decides which configs are proven.
//!
//! The crate opens no device. The only process that it starts is `ssh-keygen`, which signs if the private key has a
//! passphrase or is held by an agent. The crate trusts only the holders of the plan's keys, and it does not trust any
//! single device. A row of a table is the config to launch for one problem on one device. It is proven only if enough
//! distinct devices have proven it. The plan specifies how many, and whether they must also have different keys.
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
pub use store::{Folder, ObjectStore, StoreError, create, open};

/// Compiles the example of README.md as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// The unit tests of this crate use the samples and checks of the integration tests in `tests/`.
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
