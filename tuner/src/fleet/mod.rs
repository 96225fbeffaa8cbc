//! Tunes one plan on many machines: writes plans, runs one element of a plan, and converts the content of a store into
//! rows.
//!
//! The crate [`kiln_fleet`] contains plans, signatures, stores and decisions. This module adds the parts that need
//! devices.

mod attempts;
mod element;
mod error;
mod kind;
mod plan;
pub mod proofs;
mod publishing;
mod rows;
mod scratch;
pub mod signer;
pub mod state;
mod statements;

pub use element::{Work, Worked, work};
pub use error::FleetError;
pub use plan::{PlanOptions, continuing, make, settings};
pub use rows::{Written, check_sources, write_rows};
pub use signer::PlanFile;
