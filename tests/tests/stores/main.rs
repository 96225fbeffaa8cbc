//! Stores of fleets: a folder, and S3 buckets on servers of this machine. All stores must have the same properties.
#![allow(clippy::unwrap_used)]

#[path = "../../../fleet/tests/contract/mod.rs"]
mod contract;
#[path = "../../../fleet/tests/damage/mod.rs"]
mod damage;
#[path = "../../../fleet/tests/samples/mod.rs"]
mod samples;

mod buckets;
mod everywhere;
#[cfg(feature = "s3")]
mod liars;
mod package;
mod places;
mod plans;
mod sharing;
